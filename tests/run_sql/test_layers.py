"""Each layer by itself: what it stops with all others taken away, and that the act succeeds without it.

Run alone: python -m pytest tests/run_sql/test_layers.py
"""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from src.run_sql import guard, run_sql, tool
from src.run_sql.guard import Layer, Reservo, call, connect
from tests.run_sql import harness
from tests.run_sql.test_cases import CASES

GROWING = "WITH RECURSIVE g(n, t) AS (SELECT 1, 'a' UNION ALL SELECT n + 1, t || t FROM g WHERE n < {n}) "
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
SORTED = (
    "SELECT a.starts_at || b.starts_at || c.starts_at || d.starts_at "
    "FROM bookings a, bookings b, bookings c, bookings d ORDER BY 1"
)
ALL = [layer.__name__ for layer in guard.LAYERS]


def attempt(folder: Path, statement: str, mode: str, *layers: Layer) -> str:
    """Run a statement in a guarded call with just these layers, past every check on text; return the error or ''."""
    path = harness.lay_out(folder)
    con = connect(path, mode, layers)
    try:
        with call(con) as cursor:
            cursor.execute(statement).fetchall()
    except (sqlite3.Error, MemoryError) as refused:
        return f"{type(refused).__name__}: {refused}"
    finally:
        con.close()
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
    error = attempt(tmp_path, statement, "rw", guard.refuse_writes)
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
    error = attempt(tmp_path, statement, "rw", guard.close_gate)
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
    assert words in attempt(tmp_path, statement, "ro", guard.bound_sizes)
    assert list(harness.snapshot(tmp_path)) == ["other.db", "reservo.db"]
    without = attempt(tmp_path, statement, "ro")
    assert words not in without


def test_the_size_limits_still_let_a_wide_report_through(tmp_path: Path) -> None:
    assert attempt(tmp_path, WIDE, "ro", guard.bound_sizes) == ""


def test_the_clock_alone_stops_a_query_that_would_not_end(tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    report = harness.run_case(path, {"calls": [ENDLESS], "layers": ["watch_clock"]})
    assert report["answers"] == [{"ok": False, "error": "tiempo agotado: más de 0.4 s"}]
    with pytest.raises(TimeoutError):
        harness.run_case(path, {"calls": [ENDLESS], "layers": [name for name in ALL if name != "watch_clock"]}, 2.0)


def test_the_heap_limit_alone_stops_a_query_that_fills_memory(tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    in_memory = "keep_temporary_in_memory"
    report = harness.run_case(path, {"calls": [SORTED], "layers": [in_memory, "bound_memory"]})
    assert report["answers"] == [{"ok": False, "error": "memoria agotada: más de 16 MiB"}]
    assert report["peak_kib"] < 24 * 1024
    without = harness.run_case(path, {"calls": [SORTED], "layers": [in_memory]})
    assert without["answers"][0]["ok"]
    assert without["peak_kib"] > 24 * 1024


def temporary_files(con: Reservo) -> set[str]:
    """Return the names of SQLite's temporary files that a large sort opens, seen while it runs."""
    seen: set[str] = set()

    def look() -> int:
        for descriptor in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed since it was listed
                seen.add(str(descriptor.readlink()))
        return 0

    with call(con) as cursor:
        con.execute("PRAGMA cache_size = 10")
        con.set_progress_handler(look, 5000)
        cursor.execute(SORTED.replace("d.starts_at", "d.name").replace("bookings d", "rooms d")).fetchone()
    return {target for target in seen if "etilqs_" in target}


def test_temporary_data_stays_in_memory_with_that_layer_alone(tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    con = connect(path, layers=(guard.keep_temporary_in_memory,))
    assert temporary_files(con) == set()
    con.close()
    con = connect(path, layers=())
    assert temporary_files(con) != set()
    con.close()


def test_distrust_of_the_schema_alone_keeps_a_view_from_calling_a_programs_function(tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    outcomes: list[Any] = []
    for layers in ((guard.distrust_schema,), ()):
        con = connect(path, layers=layers)
        con.create_function("touched", 0, lambda: 1)
        try:
            outcomes.append(con.execute("SELECT * FROM calling").fetchall())
        except sqlite3.Error as refused:
            outcomes.append(str(refused))
        con.close()
    assert outcomes == ["unsafe use of touched()", [(1,)]]


@pytest.mark.parametrize(
    "query", ["DELETE FROM rooms", "DROP TABLE rooms", "PRAGMA user_version = 1", "SELECT 1; DELETE FROM rooms", ""]
)
def test_the_text_check_alone_stops_what_is_plainly_not_a_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    path = harness.lay_out(tmp_path)
    con = connect(path, "rw", ())
    assert not run_sql(query, con)["ok"]
    assert path.read_bytes() == harness.hostile_image()
    if query == "DELETE FROM rooms":
        monkeypatch.setattr(tool, "text_fault", lambda sql: None)
        run_sql(query, con)
        assert path.read_bytes() != harness.hostile_image()
    con.close()


def test_compiling_alone_stops_an_invented_column_before_any_row_is_read(
    con: Reservo, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    con.set_trace_callback(seen.append)
    assert run_sql("SELECT SUM(b.total) FROM bookings b", con)["error"] == "OperationalError: no such column: b.total"
    assert not [statement for statement in seen if statement.startswith("SELECT SUM")]
    assert run_sql("SELECT SUM(b.id) FROM bookings b", con)["ok"]
    assert [statement for statement in seen if statement.startswith("SELECT SUM")]


WRITING = [case for case in CASES if case["kind"] in ("write", "write2", "file", "state", "state2", "differential")]
REMOVED: list[dict[str, Any]] = [
    {"mode": "rw"},
    {"text": False},
    *({"layers": [name for name in ALL if name != removed]} for removed in ALL if removed != "watch_clock"),
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
