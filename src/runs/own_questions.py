"""Questions about a reader's own products: from a file of theirs in one language, or made in R3's words in all four.

A question of a file is about the reference beside it, else about the one that it names; for measuring, as in R3. Not
checked: that a question is in the language that is said.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from src.base.errors import Precondition
from src.base.paths import ROOT, near
from src.base.printable import excerpt, is_question
from src.base.records import Language, Product
from src.runs import catalog, examples, shop_csv, store
from src.runs.records import Query
from src.tools import REFERENCE
from src.wording import asked

TEMPLATES = near(ROOT / "data" / "questions.json")
ASKED = 30  # questions made from the products, as many as R3 has
UNKNOWN_EACH = 10  # of so many questions one is about a product that does not exist, as in R3
MOST_UNKNOWN = 3


def from_file(path: Path, language: Language) -> list[Query]:
    """Return the questions of a CSV or JSON file; `Precondition` naming the bad ones."""
    is_json = shop_csv.is_json(path)
    table = _json_table(path) if is_json else shop_csv.read(path, shop_csv.QUESTION_COLUMNS, optional=("ref",))
    queries: list[Query] = []
    for row in table.rows:
        text, ref = row.cells["question"], row.cells.get("ref", "")
        named = asked.asked(text).references
        about_it = ref or (named[0] if len(named) == 1 else "")
        if not is_question(text):
            table.faults.append((row.line, "the question is empty or not text"))
        elif not about_it:
            what = f"names {', '.join(named)}" if named else "names no reference"
            place = "key" if is_json else "column"
            table.faults.append((row.line, f"the question {what}: say in a {place} ref which it is about"))
        elif not REFERENCE.fullmatch(about_it):
            table.faults.append((row.line, f"{excerpt(about_it)} is not of the form {asked.form()}"))
        else:
            queries.append(_query(len(queries), about_it, language, text))
    table.check()
    return queries


def _json_table(path: Path) -> shop_csv.Table:
    """The questions of a JSON list of texts, or of objects with `question` and perhaps `ref`."""
    remedy = 'write a list such as [{"question": "Is REF-000 left?", "ref": "REF-000"}]'
    listed = store.read_json(path, remedy)
    if not isinstance(listed, list) or not listed:
        raise Precondition(f"{path} holds no list of questions; {remedy}")
    table = shop_csv.Table(path, unit="item")
    for place, item in enumerate(listed, 1):
        record = {"question": item} if isinstance(item, str) else item
        if not isinstance(record, dict) or not set(record) <= {"question", "ref"}:
            raise Precondition(f"{path}: item {place} is not a question; {remedy}")
        text, ref = record.get("question", ""), record.get("ref", "")
        if not isinstance(text, str) or not isinstance(ref, str):
            raise Precondition(f"{path}: item {place} has something else than texts; {remedy}")
        table.rows.append(shop_csv.Row(place, {"question": text, "ref": ref}))
    return table


def _query(identifier: int, ref: str, language: Language, text: str) -> Query:
    query: Query = {"id": identifier, "ref": ref}
    query[catalog.TEXTS[language]] = text
    return query


def made(products: Sequence[Product], count: int = ASKED) -> list[Query]:
    """Return `count` questions, at least two, about products from the whole list; in R3's words, each product once.

    One of them at least is about a reference that does not exist, and one about a product out of stock if there is one.
    """
    unknown = examples.unused(product["ref"] for product in products)
    without = min(MOST_UNKNOWN, max(1, min(count, len(products) + 1) // UNKNOWN_EACH)) if unknown else 0
    asked_about = examples.spread(products, min(len(products), count - without))
    refs = [product["ref"] for product in asked_about]
    for place in range(1, without + 1):  # the last of each part, e.g. the tenth, the twentieth and the thirtieth
        refs.insert(place * (len(asked_about) + without) // without - 1, str(unknown))
    texts = cast("list[dict[str, str]]", store.read_json(TEMPLATES, "restore it from the repository"))
    return [
        cast(Query, {"id": place, "ref": ref} | {field: text.format(ref=ref) for field, text in words.items()})
        for place, ref in enumerate(refs)
        for words in (texts[place % len(texts)],)
    ]
