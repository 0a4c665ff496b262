"""Any legal path, any text, any results: the database is the one named, results load back equal.

Run alone with: python -m pytest tests/properties/test_files.py
"""

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from src import evaluate
from src.base.errors import Precondition
from src.base.printable import dumps
from src.runs import catalog, runfile
from src.tools import COLUMNS, create, digest, readonly
from tests.properties.values import JSON
from tests.support import tally
from tests.support.generated import tries
from tests.support.project import ROOT

PRODUCTS = [{"ref": "REF-000", "name": "Produit 0", "stock": 0}]
LONGEST = 255  # bytes of a file name on Linux
WRITES = ("DELETE FROM products", "CREATE TABLE x(y)", "UPDATE products SET stock=1", "PRAGMA user_version=5")


def names(folder: str | Path) -> list[str]:
    return [path.name for path in Path(folder).iterdir()]


def legal(name: str) -> bool:
    return 0 < len(os.fsencode(name)) <= LONGEST and name not in (".", "..")


NAMES = st.one_of(
    st.text(st.characters(exclude_characters="/\x00", exclude_categories=["Cs"]), min_size=1, max_size=60),
    st.text(st.sampled_from("a?#%&=:+ '\";\\~*é\n\t.-é"), min_size=1, max_size=30),
    st.binary(min_size=1, max_size=30).filter(lambda raw: not {0, 47} & set(raw)).map(os.fsdecode),
    st.integers(200, LONGEST).map(lambda length: "n" * length),
).filter(legal)


@given(NAMES)
@tries(400)
@example("a#b.db")
@example("a?mode=rwc&x.db")
@example("a%41.db")
@example("%zz")
@example("file:x.db")
@example(":memory:")
@example("a b é.db")
@example("x?immutable=1")
@example("-wal")
@example("n" * LONGEST)
@example(os.fsdecode(b"\xff\xfe.db"))
def test_the_database_is_the_one_named_whatever_its_name(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        with pytest.raises(sqlite3.OperationalError):
            readonly(path)
        assert names(folder) == [], "a missing file was created"
        create(path, PRODUCTS)
        assert names(folder) == [name]
        before = digest(path)
        db = readonly(path)
        assert db.execute("SELECT ref,name,stock FROM products").fetchall() == [("REF-000", "Produit 0", 0)]
        for write in WRITES:
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                db.execute(write)
        db.close()
        with pytest.raises(FileExistsError):
            create(path, PRODUCTS)
        assert (names(folder), digest(path)) == ([name], before)
    tally.count("properties", "database path")


@pytest.mark.parametrize("kind", ["file", "folder", "link", "dangling link", "fifo", "socket"])
def test_create_replaces_nothing_that_has_the_name(kind: str, tmp_path: Path) -> None:
    import socket

    path = tmp_path / "stock.db"
    makers: dict[str, Any] = {
        "file": lambda: path.write_bytes(b"mine"),
        "folder": path.mkdir,
        "link": lambda: path.symlink_to(tmp_path),
        "dangling link": lambda: path.symlink_to(tmp_path / "nowhere"),
        "fifo": lambda: os.mkfifo(path),
        "socket": lambda: socket.socket(socket.AF_UNIX).bind(str(path)),
    }
    makers[kind]()
    before = path.lstat()
    with pytest.raises(FileExistsError):
        create(path, PRODUCTS)
    assert (path.lstat().st_ino, path.lstat().st_mtime_ns, names(tmp_path)) == (
        before.st_ino,
        before.st_mtime_ns,
        ["stock.db"],
    )


def test_create_never_replaces_a_file_that_appears_while_it_builds(tmp_path: Path) -> None:
    """The file comes after the first look and before the finished draft gets the name."""
    path = tmp_path / "stock.db"

    def products() -> Iterator[dict[str, Any]]:
        yield PRODUCTS[0]
        path.write_bytes(b"mine")

    with pytest.raises(FileExistsError):
        create(path, products())
    assert path.read_bytes() == b"mine" and names(tmp_path) == ["stock.db"]


def test_a_file_system_that_can_neither_link_nor_rename_keeps_no_empty_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    create(tmp_path / "one.db", PRODUCTS)
    assert names(tmp_path) == ["one.db"] and digest(tmp_path / "one.db")
    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(PermissionError):
        create(tmp_path / "two.db", PRODUCTS)
    assert names(tmp_path) == ["one.db"]


WRITES_ELSEWHERE = (
    "ATTACH '{folder}/other.db' AS other",
    "VACUUM INTO '{folder}/copy.db'",
    "CREATE TEMP TABLE note(text)",
)


@pytest.mark.parametrize("write", WRITES_ELSEWHERE)
def test_the_readers_connection_writes_no_other_file_either(write: str, tmp_path: Path) -> None:
    create(tmp_path / "stock.db", PRODUCTS)
    db = readonly(tmp_path / "stock.db")
    with pytest.raises(sqlite3.Error):
        db.execute(write.format(folder=tmp_path))
    db.close()
    assert names(tmp_path) == ["stock.db"]


BAD_PRODUCTS = st.lists(
    st.one_of(
        st.fixed_dictionaries({"ref": JSON, "name": JSON, "stock": JSON}),
        st.dictionaries(st.sampled_from(COLUMNS), st.none() | st.text(max_size=3), max_size=3),
    ),
    min_size=1,
    max_size=4,
)


@given(BAD_PRODUCTS)
@tries(300)
def test_create_leaves_a_whole_file_or_nothing(products: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stock.db"
        try:
            create(path, products)
        except (sqlite3.Error, OverflowError, UnicodeEncodeError, ValueError):
            assert names(folder) == []
        else:
            assert names(folder) == ["stock.db"]
            db = readonly(path)
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            db.close()
    tally.count("properties", "create: any products")


@given(JSON)
@example("\ud800")
@example("\U000e0041\u202e\x9b\x7f\u2028")
@example({"\ud83d": "\ude00"})
def test_results_load_back_equal_and_may_be_shown(value: Any) -> None:
    value = json.loads(json.dumps(value).replace("NaN", "1").replace("Infinity", "2"))
    for indent in (None, 2):
        text = dumps(value, indent)
        assert json.loads(text.encode("utf-8")) == value
        assert all(c.isprintable() or c == "\n" for c in text)
    tally.count("properties", "results: written and read")


CATALOG = catalog.shop(ROOT / "data" / "products.json")
GENERATIONS = st.none() | st.fixed_dictionaries(
    {
        "raw": st.text(st.characters(), max_size=20) | st.sampled_from(["0", "37", "introuvable"]),
        "finish_reason": st.none() | st.just("stop"),
    },
    optional={"timings": st.dictionaries(st.sampled_from(["prompt_ms", "predicted_ms"]), st.floats(0, 1e9))},
)
OBSERVATIONS = st.one_of(
    st.just({"found": False}),
    st.sampled_from(CATALOG["products"]),
    st.dictionaries(st.text(max_size=5), JSON, max_size=3).filter(lambda seen: not {"stock", "name"} & set(seen)),
)
CALLS = st.fixed_dictionaries(
    {"arguments": st.fixed_dictionaries({"ref": st.text(st.characters())})}, optional={"outil": JSON}
)
RESULTS = st.fixed_dictionaries(
    {
        "query": st.text(st.characters()),
        "ref": st.sampled_from([query["ref"] for query in CATALOG["queries"]]),
        "proposal": GENERATIONS,
        "trace": st.lists(st.fixed_dictionaries({"call": CALLS, "observation": OBSERVATIONS}), max_size=2),
        "answer": GENERATIONS,
        "error": st.none() | st.text(st.characters()),
        "seconds": st.floats(0, 1e9),
    }
)


@given(st.lists(RESULTS, max_size=5))
@tries(1000)
def test_whatever_passes_the_schema_of_a_run_can_be_measured(drawn: list[dict[str, Any]]) -> None:
    results: list[Any] = [{"id": place, **result} for place, result in enumerate(drawn)]
    for result in results:
        assert runfile.is_result_of(result, {"id": result["id"], "query": result["query"]})
    try:
        measures = evaluate.evaluate(results, CATALOG["products"])
    except Precondition:
        assert results == []
        return
    assert measures["queries"] == len(results)
    assert 0 <= measures["observation_correct"] <= 1 and 0 <= measures["answer_marker_present"] <= 1
    assert 0 <= measures["errors"] <= len(results) and 0 <= measures["mean_ms"] <= 1e12
    dumps(measures)
    tally.count("properties", "evaluate")


@given(JSON)
def test_a_foreign_value_is_no_result(value: Any) -> None:
    assert runfile.is_result_of(value, {"id": 0, "query": "?"}) is False
    tally.count("properties", "evaluate: foreign value")
