"""The guarded connection: which file it opens, what it leaves behind, and what state it forgets between calls.

Run alone: python -m pytest tests/run_sql/test_guard.py
"""

import os
import signal
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from src.run_sql import count_rows, guard, open_reservo, run_sql, validate
from src.run_sql.gate import Gate
from src.run_sql.guard import LIMITS, Reservo
from tests.run_sql import harness

NAMES = ["a b.db", "a?mode=rwc&x.db", "a#b.db", "a%41.db", "é ñ.db", "%zz.db", "'.db", ";.db"]
UNGUARDED = "la conexión no está protegida: debe venir de open_reservo"
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


@pytest.mark.parametrize("name", NAMES)
def test_any_legal_file_name_opens_that_file_and_creates_no_other(reservo: Path, name: str) -> None:
    path = reservo.rename(reservo.with_name(name))
    con = open_reservo(path)
    assert count_rows("rooms", con) == {"ok": True, "count": 5}
    con.close()
    assert [file.name for file in path.parent.iterdir()] == [name]


def test_a_missing_file_is_an_error_and_stays_missing(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match=r"no .*nope\.db; make it with: .* create .*nope\.db$"):
        open_reservo(tmp_path / "nope.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"not a database, but longer than a header" * 100])
def test_a_file_that_is_no_reservo_database_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)
    with pytest.raises(sqlite3.DatabaseError, match="not a"):
        open_reservo(path)
    assert path.read_bytes() == content


def test_a_database_without_the_four_tables_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(harness.other_image())
    with pytest.raises(sqlite3.OperationalError, match="no table rooms, members, bookings, payments"):
        open_reservo(path)


def test_a_wal_file_is_refused_because_reading_it_creates_files(reservo: Path) -> None:
    writer = sqlite3.connect(reservo)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.close()
    before = harness.snapshot(reservo.parent)
    with pytest.raises(sqlite3.OperationalError, match="WAL"):
        open_reservo(reservo)
    assert harness.snapshot(reservo.parent) == before


def test_a_fifo_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(sqlite3.OperationalError, match="is not a file"):
        open_reservo(tmp_path / "pipe")


def test_a_damaged_file_is_an_error_answer(tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    content = bytearray(path.read_bytes())
    content[4096 * 2 : 4096 * 8] = b"\xff" * 4096 * 6
    path.write_bytes(content)
    con = open_reservo(path)
    for table in ("rooms", "members", "bookings", "payments"):
        harness.check_answer(run_sql(f"SELECT * FROM {table}", con))
    con.close()
    assert path.read_bytes() == content


@pytest.mark.parametrize("other", [None, "reservo.db", 1, sqlite3])
def test_what_is_no_connection_is_an_error_answer(other: Any) -> None:
    assert run_sql("SELECT 1", other) == {"ok": False, "error": UNGUARDED}
    assert validate("SELECT 1", other) == (False, UNGUARDED)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("DELETE FROM rooms", "no es de solo lectura (empieza con DELETE)"),
        ("SELECT COUNT(*) FROM rooms; DROP TABLE rooms", "más de una sentencia"),
        (" -- nothing\n", "consulta vacía"),
        (7, "la consulta debe ser texto"),
        ("SELECT 1" + " " * 10_000, "consulta demasiado larga: 10008 caracteres (máximo 10000)"),
        ("SELECT name FROM rooms", UNGUARDED),
    ],
)
def test_the_lessons_own_refusals_come_first_on_any_connection(query: Any, error: str, reservo: Path) -> None:
    plain = sqlite3.connect(reservo)
    assert run_sql(query, plain) == {"ok": False, "error": error}
    assert validate(query, plain) == (False, error)
    plain.close()


def test_a_plain_connection_is_refused_and_left_as_it_was(reservo: Path) -> None:
    plain = sqlite3.connect(reservo)
    plain.execute("UPDATE rooms SET name = 'x' WHERE id = 1")
    assert run_sql("SELECT 1", plain) == {"ok": False, "error": UNGUARDED}
    assert plain.in_transaction
    plain.rollback()
    plain.close()


def test_a_reservo_connection_made_by_other_means_is_guarded_all_the_same(tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    con = sqlite3.connect(path, factory=Reservo)
    for query in ("WITH x AS (SELECT 1) DELETE FROM rooms", "SELECT v FROM secrets"):
        assert not run_sql(query, con)["ok"]
    con.close()
    assert path.read_bytes() == harness.hostile_image()


def test_a_closed_connection_is_an_error_answer(con: Reservo) -> None:
    con.close()
    assert run_sql("SELECT 1", con)["error"] == "ProgrammingError: Cannot operate on a closed database."
    assert not validate("SELECT 1", con)[0]
    assert not count_rows("rooms", con)["ok"]


def test_another_threads_connection_is_an_error_answer(con: Reservo) -> None:
    answers: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: answers.append(run_sql("SELECT 1", con)))
    thread.start()
    thread.join()
    assert answers[0]["error"].startswith("ProgrammingError: SQLite objects created in a thread")
    assert run_sql("SELECT 1", con)["ok"]


def test_two_connections_and_a_writer_beside_them_do_not_disturb_each_other(reservo: Path) -> None:
    first, second = open_reservo(reservo), open_reservo(reservo)
    writer = sqlite3.connect(reservo)
    with writer:
        writer.execute("UPDATE rooms SET name = 'Foco' WHERE id = 1")
    writer.close()
    for con in (first, second):
        assert run_sql("SELECT name FROM rooms WHERE id = 1", con)["rows"] == [["Foco"]]
        con.close()


def test_a_table_that_appears_while_the_connection_is_open_is_forbidden_too(reservo: Path, con: Reservo) -> None:
    assert run_sql("SELECT 1", con)["ok"]
    writer = sqlite3.connect(reservo)
    writer.executescript(harness.EXTRA)
    writer.close()
    for query in ("SELECT v FROM secrets", "SELECT count(*) FROM secrets", "SELECT * FROM leak"):
        assert not run_sql(query, con)["ok"], query


def test_what_was_done_to_the_connection_in_between_does_not_loosen_a_call(tmp_path: Path) -> None:
    con = open_reservo(harness.lay_out(tmp_path))
    before = harness.snapshot(tmp_path)
    con.execute("PRAGMA query_only = OFF")
    con.row_factory = lambda cursor, row: {"name": row}
    con.text_factory = bytes
    for category in LIMITS:
        con.setlimit(category, 10**6)
    con.set_progress_handler(None, 0)
    con.set_authorizer(lambda *_: sqlite3.SQLITE_OK)
    con.execute("BEGIN")

    assert run_sql("SELECT name FROM rooms WHERE id = 1", con)["rows"] == [["Focus"]]
    for query in ("SELECT count(*) FROM secrets", "SELECT v FROM secrets", "WITH x AS (SELECT 1) DELETE FROM rooms"):
        assert not run_sql(query, con)["ok"], query
    assert run_sql(ENDLESS, con)["error"].startswith("tiempo agotado")
    assert (con.text_factory, con.row_factory is None) == (bytes, False)
    con.row_factory = None
    assert con.execute("PRAGMA query_only").fetchone() == (1,)
    assert {category: con.getlimit(category) for category in LIMITS} == LIMITS
    assert not con.in_transaction
    con.close()
    assert harness.snapshot(tmp_path) == before


def test_a_statement_that_the_program_ran_before_is_judged_anew_in_a_call(tmp_path: Path) -> None:
    con = open_reservo(harness.lay_out(tmp_path))
    query = "SELECT v FROM secrets"
    assert con.execute(query).fetchall() == [(harness.MARK,)]
    assert run_sql(query, con)["error"] == "DatabaseError: access to secrets.v is prohibited"
    con.close()


def test_many_wide_queries_in_a_row_do_not_use_up_the_memory_limit(con: Reservo) -> None:
    for number in range(150):
        wide = ", ".join(f"sum(b.id + {number} + {column}) OVER (ORDER BY b.id)" for column in range(60))
        answer = run_sql(f"SELECT {wide} FROM bookings b", con)
        assert answer["ok"], (number, answer)


def test_the_gate_knows_the_four_tables_of_the_main_file_only() -> None:
    gate = Gate(["secrets", "dbstat"], lambda: False)
    assert gate.readable("rooms", "id", "main")
    assert not gate.readable("rooms", "id", "temp")
    assert not gate.readable("secrets", "", None)
    assert not gate.readable("pragma_table_info", "", None)
    assert gate.readable("a_common_table", "", None)
    assert not gate.readable("a_common_table", "", "main")


def test_the_gate_denies_everything_once_the_time_is_over() -> None:
    late = Gate([], lambda: True)
    assert late(sqlite3.SQLITE_SELECT, None, None, None, None) == sqlite3.SQLITE_DENY


def test_a_stopped_call_leaves_no_trace_in_the_next(con: Reservo) -> None:
    assert run_sql(ENDLESS, con)["error"] == "tiempo agotado: más de 0.4 s"
    assert run_sql("SELECT nope", con)["error"] == "OperationalError: no such column: nope"
    assert run_sql("SELECT count(*) FROM rooms", con)["rows"] == [[5]]
    # Neither gate nor clock are on for the program's own statements.
    assert con.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] > 0
    assert con.execute("SELECT count(*) FROM bookings a, bookings b, bookings c").fetchone()[0] == 23**3


def test_control_c_stops_a_query_and_is_not_swallowed(con: Reservo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "CALL_SECONDS", 60.0)  # the signal must come first, however busy the machine is
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run_sql(ENDLESS, con)
    timer.join()
    assert run_sql("SELECT 1", con)["ok"]


@pytest.mark.parametrize(
    "query", ["SELECT 1", "SELECT name FROM rooms", "SELECT abs(id) FROM rooms", "SELECT * FROM x"]
)
@pytest.mark.parametrize("after", range(4))
def test_control_c_while_a_query_is_compiled_is_not_taken_for_a_refusal(
    con: Reservo, monkeypatch: pytest.MonkeyPatch, query: str, after: int
) -> None:
    """The signal comes in the gate, at its first, second, ... question."""
    plain, allows, asked = run_sql(query, con), Gate.allows, 0

    def interrupted_once(gate: Gate, *action: Any) -> bool:
        nonlocal asked
        asked += 1
        if asked == after + 1:
            os.kill(os.getpid(), signal.SIGINT)
        return allows(gate, *action)

    monkeypatch.setattr(Gate, "allows", interrupted_once)
    try:
        assert run_sql(query, con) == plain
        assert asked <= after, "the signal came and was swallowed"
    except KeyboardInterrupt:
        assert asked == after + 1
    monkeypatch.undo()
    assert run_sql("SELECT 1", con)["ok"]


@pytest.mark.parametrize("query", ['SELECT "not authorized"', "SELECT * FROM [not authorized to use function]"])
def test_an_error_that_quotes_the_words_of_a_refusal_is_no_interruption(con: Reservo, query: str) -> None:
    assert not run_sql(f"{query} WHERE [not authorized]", con)["ok"]


def test_a_request_from_another_thread_stops_a_query_with_an_answer(
    con: Reservo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "CALL_SECONDS", 60.0)
    timer = threading.Timer(0.1, con.interrupt)
    timer.start()
    assert run_sql(ENDLESS, con) == {"ok": False, "error": "OperationalError: interrupted"}
    timer.join()


class Text(str):
    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize("query", [None, 7, b"SELECT 1", ["SELECT 1"], {}, Text("SELECT 1"), True])
def test_a_query_that_is_not_exactly_text_is_refused(con: Reservo, query: Any) -> None:
    assert run_sql(query, con) == {"ok": False, "error": "la consulta debe ser texto"}


def test_text_that_utf8_cannot_hold_is_refused_in_words(con: Reservo) -> None:
    assert run_sql("SELECT '\ud800'", con)["error"] == "la consulta tiene caracteres que no existen en UTF-8"


def test_a_refused_action_is_named(con: Reservo) -> None:
    error = run_sql("WITH x AS (SELECT 1) DELETE FROM bookings", con)["error"]
    assert error == "DatabaseError: not authorized (DELETE bookings)"
