"""The shop's data file: products, and questions in four languages, checked against a JSON Schema on load.

A reader's own file may have its questions in one language, and references of the form that `tools.REFERENCE` has by
then; the rest of the schema is R3's.
Not checked: that a question's text names the reference beside it; the tests do that for the file we ship.
"""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from src.base import exits
from src.base.errors import Precondition
from src.base.paths import ROOT, near
from src.base.printable import excerpt
from src.base.records import Language, Product, Question
from src.runs.records import DataFile, HostileFile, Shop

if TYPE_CHECKING:
    import jsonschema
    from typing_extensions import TypeIs  # of the type checker's own

DATA = near(ROOT / "data" / "products.json")
SCHEMA = ROOT / "configs" / "products.schema.json"
HOSTILE_SCHEMA = ROOT / "configs" / "hostile.schema.json"
# The field of a question's text in each language; the tutorial's own holds the English one.
TEXTS: dict[Language, Literal["query", "es", "vi", "fr"]] = {"en": "query", "es": "es", "vi": "vi", "fr": "fr"}
REFERENCE_OF_R3 = "^REF-[0-9]{3}$"  # as the schemas have it
LONGEST_NAME = 200  # characters, as in the schema
RESTORE = "restore it from the repository or name another file with --data"
CORRECT = "correct it, or name another file with --data"


def load(path: Path = DATA) -> Shop | HostileFile:
    """Return `products` (records of ref, name, stock) and `queries` (id, ref and the text in each language).

    A file of hostile questions holds `questions` instead. Raises `Precondition` naming the record and the rule it
    breaks.
    """
    data = _json(path)
    rules = _rules(HOSTILE_SCHEMA if is_hostile(data) else SCHEMA)
    if not is_hostile(data) and path.resolve() != DATA.resolve():
        rules["properties"]["queries"]["items"]["required"] = ["id", "ref", *(_texts(data) or ["query"])]
    if fault := _fault(data, rules):
        raise Precondition(f"{path}: {fault}; {_remedy(path)}")
    return cast(Shop | HostileFile, data)  # the schema has just said what it is


def _remedy(path: Path) -> str:
    """What helps against a fault in a data file: ours is in the repository, a reader's own is theirs to correct."""
    return RESTORE if path.resolve() == DATA.resolve() else CORRECT


def products(path: Path) -> list[Product]:
    """Return the products of a reader's file, whose questions, if it has any, are not looked at."""
    data = _json(path)
    rules = _rules(SCHEMA)
    rules["required"], rules["properties"] = ["products"], {"products": rules["properties"]["products"], "queries": {}}
    if fault := _fault(data, rules):
        raise Precondition(f"{path}: {fault}; {_remedy(path)}")
    return cast(Shop, data)["products"]


def lacks_questions(path: Path) -> bool:
    """Whether a file holds products and nothing to ask about them."""
    data = _json(path)
    return isinstance(data, dict) and "products" in data and "queries" not in data


def _json(path: Path) -> object:
    from src.runs.store import read_bytes  # with OpenSSL; `--help` reads this module too

    try:
        text = read_bytes(path).decode("utf-8-sig")  # an editor's byte order mark says nothing
        # JSON Schema takes 5.0 for an integer, we do not: a number with a point stays a text, which the schema refuses
        return json.loads(text, parse_float=str)
    except json.JSONDecodeError as exc:
        if text.lstrip()[:1] not in ("{", "["):
            raise Precondition(
                f"{path} is not JSON; a spreadsheet's file goes to 'prepare --data', and the commands after it need no "
                "--data then"
            ) from None
        raise Precondition(f"{path} cannot be read ({exc}); {_remedy(path)}") from None
    except FileNotFoundError:
        raise Precondition(f"{path} is missing; {_remedy(path)}") from None
    except OSError as exc:
        raise Precondition(f"{path} cannot be read ({exc.strerror or exc}); {exits.advice(exc)}") from None
    except (ValueError, RecursionError) as exc:
        raise Precondition(f"{path} cannot be read ({exc}); {_remedy(path)}") from None


def _texts(data: Any) -> list[str]:
    """The fields of a text that any question of a file has; a reader's own may have fewer languages than R3's."""
    queries = data.get("queries") if isinstance(data, dict) else None
    found = (
        {name for query in queries if isinstance(query, dict) for name in query} if isinstance(queries, list) else set()
    )
    return [field for field in TEXTS.values() if field in found]


def _rules(schema: Path) -> dict[str, Any]:
    """The rules of a schema, whatever the form of a reference is."""
    from src.tools import REFERENCE  # with sqlite3 and OpenSSL; `--help` reads this module too

    def any_reference(part: dict[str, Any]) -> dict[str, Any]:
        return {"type": "string", "maxLength": 64} if part.get("pattern") == REFERENCE_OF_R3 else part

    has_r3_form = f"^{REFERENCE.pattern}$" == REFERENCE_OF_R3  # of another form, the gate's own pattern decides below
    text = schema.read_text(encoding="utf-8")
    rules: dict[str, Any] = json.loads(text, object_hook=None if has_r3_form else any_reference)
    return rules


def _fault(data: object, rules: dict[str, Any]) -> str:
    """Say which record breaks which rule; an empty string when none does."""
    try:
        import jsonschema  # slow to import; only the commands that read the data file pay for it
    except ModuleNotFoundError:  # a clone tried with the system's Python, before anything is installed
        return _fault_of_products(data) or _repeated({"products": cast(Any, data)["products"]})
    fault = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(rules).iter_errors(data))
    if fault is not None:
        return f"{fault.json_path[2:] or 'the file'}: {_rule(fault)}"
    return _repeated(data) or _other_form(data)


def _repeated(data: Any) -> str:
    for records, key in (("products", "ref"), ("queries", "id"), ("questions", "id")):
        count = Counter(record[key] for record in data.get(records, ()))
        if repeated := [value for value, times in count.items() if times > 1]:
            return f"{records}: {key} {repeated[0]!r} appears twice"
    return ""


def _other_form(data: Any) -> str:
    """Say which reference the gate would refuse, whatever the schema says."""
    from src.tools import REFERENCE

    refs = (record["ref"] for records in ("products", "queries") for record in data.get(records, ()))
    return next(
        (f"{excerpt(ref)} is no reference: {REFERENCE.pattern}" for ref in refs if not REFERENCE.fullmatch(ref)), ""
    )


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
    field = TEXTS[language]
    if without := [item["id"] for item in data["queries"] if field not in item]:
        raise Precondition(
            f"question {without[0]} is not there in the language {language}; "
            f"there is: {', '.join(f'--lang {each}' for each in languages(data)) or 'no language that all have'}"
        )
    return [{"id": item["id"], "ref": item["ref"], "query": item[field]} for item in data["queries"]]


def languages(data: Shop) -> list[Language]:
    """Return the languages in which every question is there."""
    return [each for each, field in TEXTS.items() if all(field in query for query in data["queries"])]


def origin(path: Path) -> DataFile:
    """Name the data file and its SHA-256, for the record of a run."""
    from src.tools import digest  # brings sqlite3 and OpenSSL; `--help` reads this module too

    return {"file": path.name, "sha256": digest(path)}
