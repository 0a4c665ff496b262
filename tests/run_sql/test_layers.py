"""Each layer by itself: what it stops with all others taken away, and that the act succeeds without it.

Run alone: python -m pytest tests/run_sql/test_layers.py
"""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from src.run_sql import engine, run_sql, serve
from src.run_sql.engine import Engine, Layer, connect
from src.run_sql.guard import Reservo
from tests.run_sql import harness
from tests.run_sql.test_cases import CASES

GROWING = "WITH RECURSIVE g(n, t) AS (SELECT 1, 'a' UNION ALL SELECT n + 1, t || t FROM g WHERE n < {n}) "
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
SORTED = (
    "SELECT a.starts_at || b.starts_at || c.starts_at || d.starts_at "
    "FROM bookings a, bookings b, bookings c, bookings d ORDER BY 1"
)
PEAK_KIB = 64 * 1024  # the promise
ALL = [layer.__name__ for layer in engine.LAYERS]


def attempt(folder: Path, statement: str, mode: str, *layers: Layer) -> str:
    """Run a statement with just these layers, past every check on text and in this process; return the error or ''."""
    path = harness.lay_out(folder)
    try:
        with contextlib.closing(connect(path, mode, layers)) as con:
            con.execute(statement).fetchall()
    except (sqlite3.Error, MemoryError) as refused:
        return f"{type(refused).__name__}: {refused}"
    return ""


WRITES = ["DELETE FROM bookings", "DROP TABLE rooms", "WITH x AS (SELECT 1) UPDATE rooms SET name = 'x' || id"]


@pytest.mark.parametrize("statement", WRITES)
def test_the_read_only_file_alone_stops_a_write(tmp_path: Path, statement: str) -> None:
    assert attempt(tmp_path, statement, "ro") == "OperationalError: attempt to write a readonly database"
    before = harness.snapshot(tmp_path)
    assert attempt(tmp_path, statement, "rw") == ""
    assert harness.snapshot(tmp_path) != before


@pytest.mark.parametrize("statement", WRITES)
def test_query_only_alone_stops_a_write(tmp_path: Path, statement: str) -> None:
    error = attempt(tmp_path, statement, "rw", engine.refuse_writes)
    assert error == "OperationalError: attempt to write a readonly database"
    assert (tmp_path / "reservo.db").read_bytes() == harness.hostile_image()


GATED = [
    *WRITES,
    "PRAGMA user_version = 77",
    "PRAGMA journal_mode = WAL",
    "VACUUM INTO 'evil.db'",
    "ATTACH 'evil.db' AS e",
    "CREATE TEMP TABLE t (x)",
    "SELECT v FROM secrets",
    "SELECT count(*) FROM secrets",
    "SELECT * FROM leak",
    "SELECT body FROM docs",
    "SELECT count(*) FROM sqlite_master",
    "SELECT name FROM pragma_table_info('secrets')",
    "SELECT * FROM json_each('[1]')",
    "SELECT printf('%d', 1)",
    "SELECT hex(fts3_tokenizer('simple'))",
    "BEGIN",
    "SAVEPOINT a",
    "ANALYZE",
    "REINDEX",
]


@pytest.mark.parametrize("statement", GATED)
def test_the_gate_alone_stops_whatever_is_not_a_read_of_the_four_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    monkeypatch.chdir(tmp_path)
    harness.lay_out(tmp_path)
    before = harness.snapshot(tmp_path)
    error = attempt(tmp_path, statement, "rw", engine.close_gate)
    assert any(
        words in error for words in ("not authorized", "authorization denied", "prohibited", "constructor failed")
    )
    assert harness.snapshot(tmp_path) == before
    without = attempt(tmp_path, statement, "rw")
    assert without == "" or "fts3tokenize disabled" in without  # nothing else in the way


SIZES = [
    ("ATTACH 'evil.db' AS e", "too many attached databases"),
    (GROWING.format(n=20) + "SELECT t FROM g", "string or blob too big"),
    ("SELECT " + ",".join(["1"] * 101), "too many columns"),
    ("SELECT 1" + "+1" * 100, "Expression tree is too large"),
    ("SELECT 1 " + "UNION ALL SELECT 1 " * 50, "too many terms in compound SELECT"),
    ("SELECT max(" + ",".join(["1"] * 51) + ")", "too many arguments"),
    ("SELECT 'a' LIKE '" + "%" * 101 + "'", "LIKE or GLOB pattern too complex"),
    ("SELECT ?", "too many SQL variables"),
    ("SELECT '" + "x" * 40_100 + "'", "query string is too large"),
]
WIDE = "SELECT " + ", ".join(f"count(DISTINCT a.id + {n})" for n in range(99)) + " FROM bookings a"


@pytest.mark.parametrize(("statement", "words"), SIZES)
def test_the_size_limits_alone_stop_what_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert words in attempt(tmp_path, statement, "ro", engine.bound_sizes)
    assert list(harness.snapshot(tmp_path)) == ["other.db", "reservo.db"]
    without = attempt(tmp_path, statement, "ro")
    assert words not in without


def test_the_size_limits_still_let_a_wide_report_through(tmp_path: Path) -> None:
    assert attempt(tmp_path, WIDE, "ro", engine.bound_sizes) == ""


def test_the_systems_clock_alone_stops_a_query_that_would_not_end(tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    with pytest.raises(ChildProcessError) as ended:
        harness.run_case(path, {"calls": [ENDLESS], "layers": [], "clocks": [0.4, 0.0]})
    assert serve.obituary(-ended.value.args[0]) == ("late", "tiempo agotado: más de 0.4 s")
    with pytest.raises(TimeoutError):
        harness.run_case(path, {"calls": [ENDLESS]}, 2.0)


def test_the_systems_limit_alone_stops_a_query_that_fills_memory(tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    layers, large = ["keep_temporary_in_memory"], SORTED.replace("ORDER", ", rooms e ORDER")
    report = harness.run_case(path, {"calls": [large], "layers": layers, "limits": True})
    assert report["answers"] == [{"ok": False, "error": "memoria agotada: más de 48 MiB"}]
    assert report["peak_kib"] < PEAK_KIB
    without = harness.run_case(path, {"calls": [large], "layers": layers})
    assert without["answers"][0]["ok"]
    assert without["peak_kib"] > PEAK_KIB


def test_the_systems_limit_on_files_alone_keeps_every_statement_from_writing(tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    case: dict[str, Any] = {
        "calls": ["WITH x AS (SELECT 1) UPDATE rooms SET name = 'x' || id"],
        "layers": [],
        "mode": "rw",
    }
    case["text"] = False
    before = harness.snapshot(tmp_path)[path.name]
    harness.run_case(path, {**case, "limits": True})
    assert harness.snapshot(tmp_path)[path.name] == before
    (tmp_path / "reservo.db-journal").unlink(missing_ok=True)
    harness.run_case(path, case)
    assert harness.snapshot(tmp_path)[path.name] != before


def temporary_files(con: Engine) -> set[str]:
    """Return the names of SQLite's temporary files that a large sort opens, seen while it runs."""
    seen: set[str] = set()

    def look() -> int:
        for descriptor in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed since it was listed
                seen.add(str(descriptor.readlink()))
        return 0

    con.execute("PRAGMA cache_size = 10")
    con.set_progress_handler(look, 5000)
    con.execute(SORTED.replace("d.starts_at", "d.name").replace("bookings d", "rooms d")).fetchone()
    con.close()
    return {target for target in seen if "etilqs_" in target}


def test_temporary_data_stays_in_memory_with_that_layer_alone(tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    assert temporary_files(connect(path, layers=(engine.keep_temporary_in_memory,))) == set()
    assert temporary_files(connect(path, layers=())) != set()


def test_a_view_that_calls_a_programs_function_finds_none_in_the_other_process(
    hostile: tuple[Path, Reservo],
) -> None:
    _, con = hostile
    con.create_function("touched", 0, lambda: 1)
    assert con.execute("SELECT * FROM calling").fetchall() == [(1,)]
    assert not run_sql("SELECT * FROM calling", con)["ok"]


@pytest.mark.parametrize(
    "query", ["DELETE FROM rooms", "DROP TABLE rooms", "PRAGMA user_version = 1", "SELECT 1; DELETE FROM rooms", ""]
)
def test_the_text_check_alone_stops_what_is_plainly_not_a_read(tmp_path: Path, query: str) -> None:
    path = harness.lay_out(tmp_path)
    bare: dict[str, Any] = {"calls": [query], "layers": [], "mode": "rw"}
    assert not harness.run_case(path, bare)["answers"][0]["ok"]
    assert path.read_bytes() == harness.hostile_image()
    if query == "DELETE FROM rooms":
        harness.run_case(path, {**bare, "text": False})
        assert path.read_bytes() != harness.hostile_image()


def test_compiling_alone_stops_an_invented_column_before_any_row_is_read(tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    with contextlib.closing(connect(path)) as con:
        seen: list[str] = []
        con.set_trace_callback(seen.append)
        for column, known in (("total", False), ("id", True)):
            seen.clear()
            statement = f"SELECT SUM(b.{column}) FROM bookings b"
            if known:
                engine.compiled(con.cursor(), statement)
            else:
                with pytest.raises(sqlite3.OperationalError, match=r"no such column: b\.total"):
                    engine.compiled(con.cursor(), statement)
            assert not [text for text in seen if text.startswith("SELECT SUM")]


WRITING = [case for case in CASES if case["kind"] in ("write", "write2", "file", "state", "state2", "differential")]
REMOVED: list[dict[str, Any]] = [
    {"mode": "rw"},
    {"text": False},
    *({"layers": [name for name in ALL if name != removed]} for removed in ALL),
]


@pytest.mark.parametrize("removed", REMOVED, ids=lambda removed: "-".join(map(str, removed)))
def test_with_any_one_layer_removed_the_others_still_keep_everything_unwritten(
    tmp_path: Path, removed: dict[str, Any]
) -> None:
    path = harness.lay_out(tmp_path)
    before = harness.snapshot(tmp_path)
    calls = [call for case in WRITING for call in case["calls"]]
    report = harness.run_case(path, {"calls": calls, **removed})
    assert len(report["answers"]) == len(calls) > 60
    assert harness.snapshot(tmp_path) == before
    harness.count("writing calls with one layer removed", len(calls))


def test_with_every_layer_removed_the_same_calls_do_write(tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    before = harness.snapshot(tmp_path)
    calls = [call for case in WRITING for call in case["calls"]]
    harness.run_case(path, {"calls": calls, "layers": [], "mode": "rw", "text": False})
    assert harness.snapshot(tmp_path) != before


def test_a_virtual_table_is_refused_by_its_program_where_the_engine_does_not_ask_the_gate(reservo: Path) -> None:
    ungated = tuple(layer for layer in engine.LAYERS if layer is not engine.close_gate)
    for statement in ("SELECT count(*) FROM json_each('[1]')", "SELECT count(*) FROM pragma_table_list"):
        answer = engine.outcome(reservo, statement, 10, layers=ungated).answer
        assert answer == {
            "ok": False,
            "error": "OperationalError: table-valued functions and virtual tables are not authorized",
        }
