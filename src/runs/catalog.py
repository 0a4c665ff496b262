"""The shop's data file: products, and questions in four languages, checked against a JSON Schema on load.

Not checked: that a question's text names the reference beside it; the tests do that for the file we ship.
"""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from src.base.errors import Precondition
from src.base.paths import ROOT, near
from src.base.printable import excerpt
from src.base.records import DataFile, HostileFile, Language, Question, Shop

if TYPE_CHECKING:
    import jsonschema
    from typing_extensions import TypeIs  # of the type checker's own

DATA = near(ROOT / "data" / "products.json")
SCHEMA = ROOT / "configs" / "products.schema.json"
HOSTILE_SCHEMA = ROOT / "configs" / "hostile.schema.json"
LONGEST_NAME = 200  # characters, as in the schema
REMEDY = "restore it from the repository or name another file with --data"


def load(path: Path = DATA) -> Shop | HostileFile:
    """Return `products` (records of ref, name, stock) and `queries` (id, ref and the text in each language).

    A file of hostile questions holds `questions` instead. Raises `Precondition` naming the record and the rule it
    breaks.
    """
    from src.runs.store import read_bytes  # with OpenSSL; `--help` reads this module too

    try:
        # JSON Schema takes 5.0 for an integer, we do not: a number with a point stays a text, which the schema refuses
        data = json.loads(read_bytes(path).decode("utf-8"), parse_float=str)
    except (OSError, ValueError, RecursionError) as exc:
        raise Precondition(f"{path} cannot be read ({exc}); {REMEDY}") from None
    if fault := _fault(data):
        raise Precondition(f"{path}: {fault}; {REMEDY}")
    for records, key in (("products", "ref"), ("queries", "id"), ("questions", "id")):
        count = Counter(record[key] for record in data.get(records, ()))
        if repeated := [value for value, times in count.items() if times > 1]:
            raise Precondition(f"{path}: {records}: {key} {repeated[0]!r} appears twice; {REMEDY}")
    return cast(Shop | HostileFile, data)  # the schema has just said what it is


def _fault(data: object) -> str:
    """Say which record breaks which rule of the file's schema; an empty string when none does."""
    try:
        import jsonschema  # slow to import; only the commands that read the data file pay for it
    except ModuleNotFoundError:  # a clone tried with the system's Python, before anything is installed
        return _fault_of_products(data)
    schema = HOSTILE_SCHEMA if is_hostile(data) else SCHEMA
    rules = jsonschema.Draft202012Validator(json.loads(schema.read_text(encoding="utf-8")))
    fault = jsonschema.exceptions.best_match(rules.iter_errors(data))
    return "" if fault is None else f"{fault.json_path[2:] or 'the file'}: {_rule(fault)}"


def _fault_of_products(data: object) -> str:
    """The schema's rules for what `prepare` reads, by hand; the commands that ask the questions need the package."""
    from src.tools import REFERENCE  # with sqlite3 and OpenSSL; `--help` reads this module too

    products = data.get("products") if isinstance(data, dict) else None
    if not isinstance(products, list) or not products:
        return "the file: no list of products (the package jsonschema, which says more, is not installed)"
    for place, product in enumerate(products):
        whole = (
            isinstance(product, dict)
            and product.keys() == {"ref", "name", "stock"}
            and isinstance(product["ref"], str)
            and REFERENCE.fullmatch(product["ref"])
            and isinstance(product["name"], str)
            and 0 < len(product["name"]) <= LONGEST_NAME
            and product["name"].isprintable()
            and type(product["stock"]) is int
            and 0 <= product["stock"] < 1 << 53
        )
        if not whole:
            return f"products[{place}]: not a ref, a name and a stock (the package jsonschema would say more)"
    return ""


def is_hostile(data: object) -> "TypeIs[HostileFile]":
    """Whether these are hostile questions (`data/hostile.json`) rather than a shop's products and queries."""
    return isinstance(data, dict) and "questions" in data


def shop(path: Path = DATA) -> Shop:
    """Return what `load` returns for a file of products; `Precondition`, naming its path, when it holds none."""
    data = load(path)
    if is_hostile(data):
        raise Precondition(f"{path} holds questions and no products; leave --data out, or name a shop's file")
    return data


def _rule(fault: "jsonschema.ValidationError") -> str:
    return f"{excerpt(fault.message)} (rule: {fault.validator})"


def questions(data: Shop | HostileFile, language: Language) -> list[Question]:
    """Return the questions in one language as `{"id": 0, "ref": "REF-000", "query": "What is ..."}`.

    Hostile questions are in various languages, and no reference can be relied on to be what they are about.
    """
    if is_hostile(data):
        return [{"id": item["id"], "query": item["query"]} for item in data["questions"]]
    # The tutorial's field holds the English text.
    field: Literal["query", "es", "vi", "fr"] = "query" if language == "en" else language
    return [{"id": item["id"], "ref": item["ref"], "query": item[field]} for item in data["queries"]]


def origin(path: Path) -> DataFile:
    """Name the data file and its SHA-256, for the record of a run."""
    from src.tools import digest  # brings sqlite3 and OpenSSL; `--help` reads this module too

    return {"file": path.name, "sha256": digest(path)}
