"""A reader's own shop: from a spreadsheet's file to the data file that every later command reads.

Run alone: python -m pytest tests/cli/test_own_shop.py
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from src import tools
from src.base.messages import LANGUAGES
from src.measures import published
from src.runs import catalog, examples, own_questions
from tests.support.project import ROOT, environment, run, snapshot

HEADER = "ref,name,stock\n"
MUGS = HEADER + "REF-001,Mug,12\nREF-002,Jug,0\nREF-003,Plate,7\n"


def prepare(folder: Path, text: str | bytes, *words: str | Path, name: str = "shop.csv") -> Any:
    """Run `prepare --data shop.csv` with this content; the results go to `folder/outputs`."""
    (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return run("--outputs", folder / "outputs", "prepare", "--data", folder / name, *words)


def shop_of(folder: Path) -> Any:
    return json.loads((folder / "outputs" / "shop.json").read_text(encoding="utf-8"))


def rows_of(folder: Path) -> list[tuple[str, str, int]]:
    db = tools.readonly(folder / "outputs" / "stock.db")
    rows: list[tuple[str, str, int]] = db.execute("SELECT ref,name,stock FROM products ORDER BY ref").fetchall()
    db.close()
    return rows


SPELLINGS = [
    MUGS,
    "\ufeff" + MUGS,
    MUGS.replace("\n", "\r\n"),
    MUGS.replace(",", ";"),
    MUGS.replace(",", "\t"),
    MUGS.replace("ref,name,stock", " REF , Name,STOCK"),
    MUGS.replace("ref,name,stock", "Referencia,Nombre,Existencias"),
    MUGS.replace("ref,name,stock", "Mã sản phẩm,Tên,Tồn kho"),
    MUGS.replace("ref,name,stock", "Référence,Produit,Quantité"),
    MUGS + "\n,,\n\n , ,\n",
    MUGS.rstrip("\n"),
    MUGS.replace("12", "12.0").replace(",7", ',"7,00"'),
    MUGS.replace("REF-001,Mug", ' REF-001 ,"Mug"'),
    "stock,price,ref,name\n12,4.50,REF-001,Mug\n0,9,REF-002,Jug\n7,2,REF-003,Plate\n",
    MUGS.replace("Mug", "Mug")
    .replace("ref,name,stock", "stock,name,ref")
    .replace("REF-001,Mug,12", "12,Mug,REF-001")
    .replace("REF-002,Jug,0", "0,Jug,REF-002")
    .replace("REF-003,Plate,7", "7,Plate,REF-003"),
]


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_spreadsheets_file_in_any_of_its_spellings_is_the_same_shop(text: str, tmp_path: Path) -> None:
    ended = prepare(tmp_path, text)
    assert (ended.status, ended.err) == (0, "")
    assert rows_of(tmp_path) == [("REF-001", "Mug", 12), ("REF-002", "Jug", 0), ("REF-003", "Plate", 7)]
    assert "3 products, 1 out of stock, 19 pieces in all\n" in ended.out
    assert ("columns that are not used: price\n" in ended.out) == ("price" in text)


def test_a_name_keeps_its_separators_and_its_lines_become_one(tmp_path: Path) -> None:
    assert prepare(tmp_path, HEADER + 'REF-001,"Mug, ""red""\nlarge",12\n').status == 0
    assert rows_of(tmp_path) == [("REF-001", 'Mug, "red" large', 12)]


BAD_ROWS = [
    (",Mug,1", "the ref is empty"),
    ("ref-004,Mug,1", "ref-004 is not of the form REF-###: write REF-004"),
    ("REF-4,Mug,1", "REF-4 is not of the form REF-###"),
    ("REF-0004,Mug,1", "REF-0004 is not of the form REF-###"),
    ("REF-٠٠٤,Mug,1", "write REF-004"),
    ("REF-002,Mug,1", "REF-002 is on line 3 already"),
    ("REF-004,,1", "the name is empty"),
    (f"REF-004,{'x' * 201},1", "the name has 201 characters"),
    ("REF-004,a\x1b[2J,1", "a character that cannot be shown"),
    ("REF-004,Mug,", "the stock is empty"),
    ("REF-004,Mug", "the stock is empty"),
    ("REF-004,Mug,-1", "the stock is negative: -1"),
    ("REF-004,Mug,1.5", "not a whole number without separators: 1.5"),
    ("REF-004,Mug,1.234", "not a whole number without separators: 1.234"),
    ('REF-004,Mug,"1,234"', "not a whole number without separators: 1,234"),
    ("REF-004,Mug,5.000", "not a whole number without separators: 5.000"),
    ('REF-004,Mug,"5,000"', "not a whole number without separators: 5,000"),
    ("REF-004,Mug,1 234", "not a whole number without separators: 1 234"),
    ("REF-004,Mug,5 pcs", "not a whole number without separators: 5 pcs"),
    ("REF-004,Mug,١", "not a whole number"),
    ("REF-004,Mug,1e3", "not a whole number"),
    ("REF-004,Mug,9007199254740992", "the stock is too large"),
    ("REF-004,Mug, big,1", "4 cells, and the header has 3"),
    ('REF-004,"Mug,1', "a quotation mark is not closed"),
    ("REF-004,Mug,x,y", "4 cells"),
]


@pytest.mark.parametrize(("row", "why"), BAD_ROWS)
def test_a_bad_row_is_named_with_its_line_and_nothing_is_built(row: str, why: str, tmp_path: Path) -> None:
    ended = prepare(tmp_path, MUGS + row + "\n")
    assert ended.status == 2 and ended.out == ""
    first, last = ended.err.splitlines()[0], ended.err.splitlines()[-1]
    assert first.startswith("  line 5: ") and why in first
    assert last.startswith("python -m src.cli prepare: ") and "1 bad row, nothing was built; " in last
    assert not (tmp_path / "outputs").exists()


def test_every_bad_row_is_named_up_to_a_bound_by_the_line_that_it_begins_on(tmp_path: Path) -> None:
    text = HEADER + '"REF-001","two\nlines",1\n' + "".join(f"REF-{number},x,1\n" for number in range(30))
    lines = prepare(tmp_path, text).err.splitlines()
    assert lines[0].startswith("  line 4: REF-0 is not") and lines[19].startswith("  line 23: ")
    assert lines[20] == "  … and 10 more" and "30 bad rows" in lines[21] and len(lines) == 22


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty; it must name the columns ref, name, stock"),
        (HEADER.encode(), "holds nothing below its header"),
        (b"ref,name\nREF-001,Mug\n", "lacks stock: ref,name"),
        (b"ref,name,price\nREF-001,Mug,1\n", "lacks stock"),
        (b"REF-001,Mug,12\n", "line 1 lacks ref, name, stock: "),
        (b"ref,name,stock,Stock\nREF-001,Mug,1,2\n", "names stock twice"),
        (
            HEADER.encode() + "REF-001,Café,1\n".encode("cp1252"),
            "line 2 is not UTF-8 (byte 0xe9); save it as 'CSV UTF-8'",
        ),
        (MUGS.encode("utf-16"), "is UTF-16 text; in the spreadsheet, save it as 'CSV UTF-8'"),
        (b"PK\x03\x04...", "is a workbook (.xlsx, .ods), not an export; in the spreadsheet, save it as 'CSV UTF-8'"),
        (b"\xd0\xcf\x11\xe0...", "is a workbook (.xls)"),
        (b'{"products": [', "Expecting value"),  # meant as JSON, and damaged
        (b"[1]", "is not of type 'object'"),
        (b"\x00\x00\x00", "line 1 lacks ref, name, stock: "),
    ],
)
def test_a_file_that_is_no_shop_is_refused_as_what_it_is(content: bytes, said: str, tmp_path: Path) -> None:
    ended = prepare(tmp_path, content)
    assert ended.status == 2 and said in ended.err and ended.err.count("\n") == 1
    assert not (tmp_path / "outputs").exists()


def test_the_commands_that_want_json_say_what_a_spreadsheet_is_for(tmp_path: Path) -> None:
    assert prepare(tmp_path, MUGS).status == 0
    for command in ("agent", "evaluate"):
        ended = run("--outputs", tmp_path / "outputs", command, "--data", tmp_path / "shop.csv")
        assert ended.status == 2 and "goes to 'prepare --data'" in ended.err and "Expecting" not in ended.err


def test_a_database_or_a_shop_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    assert prepare(tmp_path, MUGS).status == 0
    before = snapshot(tmp_path / "outputs")
    assert "stock.db exists and is never overwritten" in prepare(tmp_path, MUGS + "REF-004,Cup,1\n").err
    assert snapshot(tmp_path / "outputs") == before
    (tmp_path / "outputs" / "stock.db").unlink()
    assert "shop.json exists and is never overwritten" in prepare(tmp_path, MUGS + "REF-004,Cup,1\n").err
    assert len(shop_of(tmp_path)["products"]) == 3 and not (tmp_path / "outputs" / "stock.db").exists()
    again = run("--outputs", tmp_path / "outputs", "prepare", "--data", tmp_path / "outputs" / "shop.json")
    assert again.status == 0 and len(rows_of(tmp_path)) == 3


def test_what_is_told_about_a_shop_speaks_the_readers_language(tmp_path: Path) -> None:
    told = {
        "es": "3 productos, 1 agotado, 1.719 unidades en total",
        "vi": "3 sản phẩm, 1 đã hết hàng, tổng tồn kho 1.719",
        "fr": "3 produits, 1 épuisé, 1 719 pièces au total",
        "en": "3 products, 1 out of stock, 1,719 pieces in all",
    }
    for language, totals in told.items():
        (tmp_path / language).mkdir()
        ended = prepare(tmp_path / language, MUGS.replace(",12", ",1712"), "--lang", language)
        assert ended.out.splitlines()[0] == totals


# --- questions


def test_the_questions_are_r3s_in_four_languages_about_these_products_and_one_that_does_not_exist(
    tmp_path: Path,
) -> None:
    ended = prepare(tmp_path, MUGS)
    assert "4 questions made: 3 products, 1 that does not exist\n" in ended.out
    data = shop_of(tmp_path)
    assert catalog.load(tmp_path / "outputs" / "shop.json") == data
    assert [query["ref"] for query in data["queries"]] == ["REF-001", "REF-002", "REF-003", "REF-999"]
    ours = catalog.shop()["queries"]
    for language in LANGUAGES:
        patterns = [q["query"].replace(q["ref"], "{ref}") for q in catalog.questions({**catalog.shop()}, language)]
        for question in catalog.questions(data, language):
            assert question["query"].count(str(question.get("ref"))) == 1
            assert question["query"].replace(str(question.get("ref")), "{ref}") in patterns
    assert len(ours) == own_questions.ASKED


@pytest.mark.parametrize(
    ("products", "words", "asked", "unknown"),
    [
        (60, (), 30, 3),
        (60, ("--ask", "5"), 5, 1),
        (60, ("--ask", "all"), 63, 3),
        (1, (), 2, 1),
        (60, ("--ask", "2"), 2, 1),
    ],
)
def test_so_many_questions_are_made_from_products_all_over_the_list(
    products: int, words: tuple[str, ...], asked: int, unknown: int, tmp_path: Path
) -> None:
    rows = "".join(f"REF-{number:03},Thing {number},{0 if number == 41 else 5}\n" for number in range(products))
    ended = prepare(tmp_path, HEADER + rows, *words)
    assert ended.status == 0
    refs = [query["ref"] for query in shop_of(tmp_path)["queries"]]
    more = " (--ask all: each one)" if asked - unknown < products else ""
    assert f" made: {asked - unknown} product" in ended.out and f", 1 that does not exist{more}\n" in ended.out
    assert len(refs) == asked and refs.count("REF-999") == unknown
    assert len(set(refs) - {"REF-999"}) == asked - unknown
    assert ("REF-041" in refs) == (products == 60)  # the one that is out of stock
    if asked > 5:
        assert max(refs[:-1]) > "REF-055"


def test_own_questions_are_about_the_reference_beside_them_or_the_one_that_they_name(tmp_path: Path) -> None:
    (tmp_path / "ask.csv").write_text("Pregunta;Código\n¿Hay ref 001?;\n¿Cuántas tazas hay?;REF-001\n¿Y REF-777?;\n")
    ended = prepare(tmp_path, MUGS, "--questions", tmp_path / "ask.csv", "--lang", "es")
    assert ended.status == 0 and f"3 preguntas de {tmp_path / 'ask.csv'} (idioma: es)" in ended.out
    assert shop_of(tmp_path)["queries"] == [
        {"id": 0, "ref": "REF-001", "es": "¿Hay ref 001?"},
        {"id": 1, "ref": "REF-001", "es": "¿Cuántas tazas hay?"},
        {"id": 2, "ref": "REF-777", "es": "¿Y REF-777?"},
    ]


def test_own_questions_may_be_json_beside_products_in_json(tmp_path: Path) -> None:
    products = json.dumps({"products": [{"ref": "REF-001", "name": "Mug", "stock": 12}]})
    asked = tmp_path / "ask.json"
    asked.write_text(json.dumps(["Is REF-001 left?", {"question": "How many mugs?", "ref": "REF-001"}]))
    assert prepare(tmp_path, products, "--questions", asked, name="mine.json").status == 0
    assert [query["query"] for query in shop_of(tmp_path)["queries"]] == ["Is REF-001 left?", "How many mugs?"]


def test_products_in_json_without_questions_get_made_ones(tmp_path: Path) -> None:
    products = json.dumps({"products": [{"ref": "REF-001", "name": "Mug", "stock": 12}]})
    assert prepare(tmp_path, "\ufeff" + products, name="mine.json").status == 0  # as an editor saves it
    assert len(shop_of(tmp_path)["queries"]) == 2


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("q.csv", "question\nHow many mugs?\n", "line 2: the question names no reference: say in a column ref"),
        ("q.csv", "question\nREF-001 or REF-002?\n", "line 2: the question names REF-001, REF-002: say"),
        ("q.csv", "question,ref\nHow many?,REF-1\n", "line 2: REF-1 is not of the form REF-###"),
        ("q.csv", "question,ref\n,REF-001\n", "line 2: the question is empty"),
        ("q.csv", "text\nIs REF-001 left?\n", "line 1 lacks question: text; it must name the columns question"),
        ("q.csv", "question\n", "holds nothing below its header"),
        ("q.json", "[]", "holds no list of questions; write a list such as"),
        ("q.json", '{"question": "REF-001?"}', "holds no list of questions"),
        ("q.json", '["REF-001?",\n\n"How many mugs?"]', "item 2: the question names no reference: say in a key ref"),
        ("q.json", '[{"query": "REF-001?"}]', "item 1 is not a question"),
        ("q.json", '["REF-001?", 5]', "item 2 is not a question"),
        ("q.json", '[{"question": 5}]', "item 1 has something else than texts"),
    ],
)
def test_a_bad_question_is_named_and_nothing_is_built(name: str, text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    ended = prepare(tmp_path, MUGS, "--questions", tmp_path / name)
    assert ended.status == 2 and said in ended.err
    assert not (tmp_path / "outputs").exists()


def test_a_json_file_of_questions_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text('\ufeff["Is REF-001 left?"]', encoding="utf-8")
    assert prepare(tmp_path, MUGS, "--questions", tmp_path / "q.json").status == 0
    assert [query["query"] for query in shop_of(tmp_path)["queries"]] == ["Is REF-001 left?"]


def test_ways_to_say_what_is_asked_exclude_each_other(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("question\nIs REF-001 left?\n")
    assert "exclude each other" in prepare(tmp_path, MUGS, "--questions", tmp_path / "q.csv", "--ask", "5").err
    for number in ("1", "none", "-3", "1.5"):
        assert prepare(tmp_path, MUGS, "--ask", number).status == 2
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize(
    ("refs", "free"),
    [
        (["REF-000", "REF-059"], "REF-999"),
        (["REF-998", "REF-999"], "REF-997"),
        ([f"REF-{number:03}" for number in range(1000)], None),
        ([f"REF-{number:03}" for number in range(1000) if number != 4], "REF-004"),
        ([], None),
    ],
)
def test_a_reference_that_does_not_exist_is_found_where_there_is_one(refs: list[str], free: str | None) -> None:
    assert examples.unused(refs) == free


def test_r3s_own_data_are_labelled_as_such_and_no_others() -> None:
    assert published.R3["data"] == tools.digest(ROOT / "data" / "products.json")
    assert published.not_r3({"data": {"file": "shop.json", "sha256": "0" * 64}}) == ["data"]
    assert published.not_r3({"data": catalog.origin(catalog.DATA)}) == []


def test_five_thousand_rows_are_checked_without_any_package(tmp_path: Path) -> None:
    rows = "".join(f"REF-{number},Thing {number},{number % 7}\n" for number in range(5000))
    (tmp_path / "shop.csv").write_text(HEADER + rows)

    def without_packages() -> "subprocess.CompletedProcess[str]":
        words = ["--outputs", str(tmp_path / "outputs"), "prepare", "--data", str(tmp_path / "shop.csv")]
        command = [sys.executable, "-S", "-m", "src.cli", *words]  # -S: without site-packages
        return subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, encoding="utf-8", timeout=60)

    done = without_packages()
    assert done.returncode == 2 and "4100 bad rows" in done.stderr
    assert re.search(r"line 2: REF-0 is not of the form", done.stderr)
    (tmp_path / "shop.csv").write_text(HEADER + "".join(rows.splitlines(keepends=True)[100:1000]))
    assert without_packages().returncode == 0 and len(rows_of(tmp_path)) == 900
