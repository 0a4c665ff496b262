"""A reader's own shop: their products and questions, made into a data file of the project's own form.

Products come from a spreadsheet (`runs.shop_csv`) or a JSON file; questions, in one language, from a file of their own,
or are made from the products with R3's wording. Everything after `prepare` reads the file that is made here.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from src.base.errors import Precondition
from src.base.messages import Translator, translator
from src.base.printable import excerpt
from src.base.records import Language, Product
from src.runs import catalog, own_questions, shop_csv
from src.runs.records import Query, Shop
from src.tools import REFERENCE
from src.wording import asked

LARGEST_STOCK = 1 << 53  # and above, JSON's readers disagree about whole numbers
WHOLE = re.compile(r"([0-9]{1,16})(?:[.,]0{1,2})?")  # 5.0 and 5,00 are 5; 5.000 and 5,000 could be 5000 as well


class Made(NamedTuple):
    """A data file, and what there is to tell about it, in the language of what was wanted."""

    shop: Shop
    notes: list[str]


class Wanted(NamedTuple):
    """Which questions a reader wants asked: those of a file, in a language, or so many made ones."""

    questions: Path | None = None
    language: Language = "en"
    number: int | None = None  # None: the data file's own, else as many as R3 has


NOTHING = Wanted()


def made(data: Path, wanted: Wanted = NOTHING) -> Made | None:
    """Return the shop that a reader's files stand for; `None` where `data` is a whole data file and nothing is wanted.

    Raises `Precondition` naming the bad rows of a file.
    """
    if wanted.questions is not None and wanted.number is not None:
        raise Precondition("--questions and --ask exclude each other; leave one out")
    told = translator(wanted.language)
    if not _is_json(data):
        products, ignored = from_rows(data)
    elif wanted.questions or wanted.number or catalog.lacks_questions(data):
        products, ignored = catalog.products(data), ""
    else:
        return None
    notes = [told.gettext("columns that are not used: {names}").format(names=ignored)] if ignored else []
    notes.append(_totals(products, told))
    if wanted.questions is not None:
        queries = own_questions.from_file(wanted.questions, wanted.language)
        n, file = len(queries), wanted.questions
        of_file = told.ngettext(
            "{n} question of {file}, in the language {language}",
            "{n} questions of {file}, in the language {language}",
            n,
        )
        notes.append(of_file.format(n=told.count(n), file=file, language=wanted.language))
    else:
        queries = own_questions.made(products, wanted.number or own_questions.ASKED)
        notes.append(_said(queries, products, told))
    return Made({"products": products, "queries": queries}, notes)


def _is_json(path: Path) -> bool:
    try:
        return shop_csv.is_json(path)
    except OSError as exc:
        raise Precondition(f"{path} cannot be read ({exc.strerror}); name another file with --data") from None


def from_rows(path: Path) -> tuple[list[Product], str]:
    """Return the products of a spreadsheet's rows, and the names of the columns that were left out of them."""
    table = shop_csv.read(path, shop_csv.PRODUCT_COLUMNS)
    products: list[Product] = []
    lines: dict[str, int] = {}
    for row in table.rows:
        ref, name, stock = row.cells["ref"], " ".join(row.cells["name"].split()), row.cells["stock"]
        faults = [*_ref_faults(ref, lines.get(ref)), *_name_faults(name), *_stock_faults(stock)]
        lines.setdefault(ref, row.line)
        if faults:
            table.faults.append((row.line, "; ".join(faults)))
        else:
            whole = cast(re.Match[str], WHOLE.fullmatch(stock))
            products.append({"ref": ref, "name": name, "stock": int(whole[1])})
    table.check()
    return products, ", ".join(map(excerpt, table.ignored))


def _ref_faults(ref: str, line: int | None) -> Iterator[str]:
    if not ref:
        yield "the ref is empty"
    elif not REFERENCE.fullmatch(ref):
        meant = asked.asked(ref).references
        yield f"{excerpt(ref)} is not of the form {asked.form()}" + (f": write {meant[0]}" if len(meant) == 1 else "")
    elif line is not None:
        yield f"{ref} is on line {line} already"


def _name_faults(name: str) -> Iterator[str]:
    if not name:
        yield "the name is empty"
    elif len(name) > catalog.LONGEST_NAME:
        yield f"the name has {len(name)} characters, at most {catalog.LONGEST_NAME} are allowed"
    elif not name.isprintable():
        yield f"the name holds a character that cannot be shown: {excerpt(name)}"


def _stock_faults(stock: str) -> Iterator[str]:
    whole = WHOLE.fullmatch(stock)
    if not stock:
        yield "the stock is empty"
    elif stock.startswith("-") and WHOLE.fullmatch(stock[1:]):
        yield f"the stock is negative: {excerpt(stock)}"
    elif whole is None:
        yield f"the stock is not a whole number without separators: {excerpt(stock)}"
    elif int(whole[1]) >= LARGEST_STOCK:
        yield f"the stock is too large: {excerpt(stock)}"


def _totals(products: Sequence[Product], told: Translator) -> str:
    """What a reader compares with the totals of their spreadsheet."""
    out, pieces = sum(product["stock"] == 0 for product in products), sum(product["stock"] for product in products)
    counted = (
        (told.ngettext("{n} product", "{n} products", len(products)), len(products)),
        (told.ngettext("{n} out of stock", "{n} out of stock", out), out),
        (told.ngettext("{n} piece in all", "{n} pieces in all", pieces), pieces),
    )
    return ", ".join(words.format(n=told.count(n)) for words, n in counted)


def _said(queries: Sequence[Query], products: Sequence[Product], told: Translator) -> str:
    """What the made questions are about."""
    asked, there = {query["ref"] for query in queries}, {product["ref"] for product in products}
    n, known = len(queries), len(asked & there)
    about = told.ngettext("{n} product", "{n} products", known).format(n=told.count(known))
    if asked - there:
        about += f", {told.gettext('1 that does not exist')}"
    if not there <= asked:
        about += f" ({told.gettext('--ask all: each one')})"
    made = told.ngettext("{n} question made: {about}", "{n} questions made: {about}", n)
    return made.format(n=told.count(n), about=about)
