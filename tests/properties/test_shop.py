"""Whatever a spreadsheet's file holds, it is the shop that it says or refused; whatever a question says, it is read.

Run alone with: python -m pytest tests/properties/test_shop.py
"""

import csv
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from src.base.errors import Precondition
from src.base.printable import dumps
from src.base.records import Product
from src.runs import catalog, own_shop
from src.tools import REFERENCE, create
from src.wording import asked, check
from tests.support.generated import tries

SIGNS = [",", ";", "\t", '"', "\n", "\r\n", "\r", "{", "[", "\ufeff", "\x00", "\u2028", " ", "é"]
PIECES = ["ref", "name", "stock", "REF-001", "REF-002", "ref-003", "Mug", "12", "0", "-1", "5.0", "1.500", *SIGNS]
HEADERS = st.sampled_from([b"", b"ref,name,stock\n", b"Nombre;Ref;Existencias\r\n", b"ref\tname\tstock\n"])
ROWS = st.lists(st.sampled_from(PIECES), max_size=25).map(lambda pieces: "".join(pieces).encode())
FILES = st.one_of(st.tuples(HEADERS, ROWS).map(b"".join), st.tuples(HEADERS, st.binary(max_size=40)).map(b"".join))
NAMES = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=30).filter(str.strip)
PRODUCTS = st.lists(
    st.tuples(st.integers(0, 999), NAMES, st.integers(0, (1 << 53) - 1)),
    min_size=1,
    max_size=8,
    unique_by=lambda p: p[0],
)
TWELVE: Product = {"ref": "REF-012", "name": "Produit 12", "stock": 69}


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@given(FILES)
@tries(1500)
@example(b"ref,name,stock\nREF-001,Mug,12\n")
def test_any_file_becomes_a_shop_that_every_command_reads_or_is_refused_in_words(folder: Path, content: bytes) -> None:
    (folder / "shop.csv").write_bytes(content)
    try:
        made = own_shop.made(folder / "shop.csv")
    except Precondition as exc:
        assert str(folder / "shop.csv") in str(exc)
        return
    assert made is not None
    (folder / "shop.json").write_text(dumps(made.shop), encoding="utf-8")
    assert catalog.load(folder / "shop.json") == made.shop
    (folder / "stock.db").unlink(missing_ok=True)
    create(folder / "stock.db", made.shop["products"])


@given(PRODUCTS, st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n"]), st.booleans())
@tries(400)
def test_what_a_spreadsheet_writes_is_read_as_it_was(
    folder: Path, products: list[tuple[int, str, int]], delimiter: str, end: str, mark: bool
) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerows([("ref", "name", "stock"), *((f"REF-{n:03}", name, stock) for n, name, stock in products)])
    (folder / "shop.csv").write_text(text.getvalue(), encoding="utf-8-sig" if mark else "utf-8", newline="")
    read, ignored = own_shop.from_rows(folder / "shop.csv")
    assert ignored == ""
    assert read == [
        {"ref": f"REF-{n:03}", "name": " ".join(name.split()), "stock": stock} for n, name, stock in products
    ]


@given(
    st.lists(
        st.sampled_from(["REF", "ref", "-", "\u2011", " ", "012", "13", "0", "١", "code ", "mã", "s", "?", "é"])
    ).map("".join)
)
@tries(1000)
@example("\ud800")
def test_a_stock_is_given_only_for_a_product_that_is_named(question: str) -> None:
    named = asked.asked(question)
    assert all(REFERENCE.fullmatch(ref) for ref in named.references)
    assert not any(REFERENCE.fullmatch(word) for word in named.alike)
    kind = asked.mismatch(question, TWELVE["ref"], TWELVE)
    assert (kind is None) == (named.references == ("REF-012",) and not named.alike) or not any(named)
    if kind is not None:
        assert "69" not in check.about_the_question(kind, question, "en")
