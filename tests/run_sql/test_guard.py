"""The connection that the program holds, and the gate: which file is opened, what is left behind, what is refused.

Run alone: python -m pytest tests/run_sql/test_guard.py
"""

import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from src.run_sql import count_rows, open_reservo, run_sql, validate
from src.run_sql.gate import Gate
from src.run_sql.guard import Reservo
from src.run_sql.records import Answer
from tests.run_sql import harness

NAMES = ["a b.db", "a?mode=rwc&x.db", "a#b.db", "a%41.db", "é ñ.db", "%zz.db", "'.db", ";.db"]
NO_CONNECTION = "la conexión no es de sqlite3: debe venir de open_reservo"


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
    assert run_sql("SELECT 1", other) == {"ok": False, "error": NO_CONNECTION}
    assert validate("SELECT 1", other) == (False, NO_CONNECTION)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("DELETE FROM rooms", "no es de solo lectura (empieza con DELETE)"),
        ("SELECT COUNT(*) FROM rooms; DROP TABLE rooms", "más de una sentencia"),
        (" -- nothing\n", "consulta vacía"),
        (7, "la consulta debe ser texto"),
        ("SELECT 1" + " " * 10_000, "consulta demasiado larga: 10008 caracteres (máximo 10000)"),
        ("SELECT nope FROM rooms", "OperationalError: no such column: nope"),
    ],
)
def test_the_lessons_own_refusals_come_first_on_any_connection(query: Any, error: str, reservo: Path) -> None:
    plain = sqlite3.connect(reservo)
    assert run_sql(query, plain) == {"ok": False, "error": error}
    assert validate(query, plain) == (False, error)
    plain.close()


def test_a_plain_connection_is_answered_from_its_file_and_left_as_it_was(tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    plain = sqlite3.connect(path)
    plain.row_factory = lambda cursor, row: {"name": row}
    plain.text_factory = bytes
    plain.execute("INSERT INTO rooms VALUES (6, 'x', 1, 1)")
    assert run_sql("SELECT name FROM rooms WHERE id IN (1, 6)", plain)["rows"] == [["Focus"]]  # what is committed
    for query in ("WITH x AS (SELECT 1) DELETE FROM rooms", "SELECT v FROM secrets"):
        assert not run_sql(query, plain)["ok"], query
    assert plain.in_transaction
    assert (plain.text_factory, plain.execute("PRAGMA query_only").fetchone()) == (bytes, {"name": (0,)})
    plain.rollback()
    plain.close()
    assert path.read_bytes() == harness.hostile_image()


def test_a_connection_without_a_file_is_an_error_answer() -> None:
    plain = sqlite3.connect(":memory:")
    error = "la conexión no tiene archivo: debe venir de open_reservo"
    assert run_sql("SELECT 1", plain) == {"ok": False, "error": error}
    plain.close()


def test_a_reservo_connection_made_by_other_means_is_guarded_all_the_same(tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    con = sqlite3.connect(path, factory=Reservo)
    for query in ("WITH x AS (SELECT 1) DELETE FROM rooms", "SELECT v FROM secrets"):
        assert not run_sql(query, con)["ok"]
    con.close()
    assert path.read_bytes() == harness.hostile_image()


def test_a_path_that_is_no_text_is_a_path_all_the_same(reservo: Path) -> None:
    odd = os.fsencode(reservo.parent) + b"/\xff.db"
    reservo.rename(os.fsdecode(odd))
    for con in (open_reservo(os.fsdecode(odd)), sqlite3.connect(odd)):
        assert run_sql("SELECT count(*) FROM rooms", con)["rows"] == [[5]]
        con.close()


def test_a_closed_connection_is_an_error_answer(reservo: Path) -> None:
    con = open_reservo(reservo)
    con.close()
    assert run_sql("SELECT 1", con)["error"] == "ProgrammingError: Cannot operate on a closed database."
    assert not validate("SELECT 1", con)[0]
    assert not count_rows("rooms", con)["ok"]


def test_another_threads_connection_is_an_error_answer(con: Reservo) -> None:
    answers: list[Answer] = []
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


def test_a_table_that_appears_while_the_connection_is_open_is_forbidden_too(reservo: Path) -> None:
    con = open_reservo(reservo)
    assert run_sql("SELECT 1", con)["ok"]
    writer = sqlite3.connect(reservo)
    writer.executescript(harness.EXTRA)
    writer.close()
    for query in ("SELECT v FROM secrets", "SELECT count(*) FROM secrets", "SELECT * FROM leak"):
        assert not run_sql(query, con)["ok"], query
    con.close()


def test_nothing_done_to_the_connection_reaches_a_call_and_no_call_reaches_it(tmp_path: Path) -> None:
    con = open_reservo(harness.lay_out(tmp_path))
    before = harness.snapshot(tmp_path)
    con.execute("PRAGMA query_only = OFF")
    con.row_factory = lambda cursor, row: {"name": row}
    con.text_factory = bytes
    con.create_function("touched", 0, lambda: 1)
    con.set_authorizer(lambda *_: sqlite3.SQLITE_OK)
    con.execute("BEGIN")
    assert con.execute("SELECT v FROM secrets").fetchone() == {"name": (harness.MARK.encode(),)}

    assert run_sql("SELECT name FROM rooms WHERE id = 1", con)["rows"] == [["Focus"]]
    refused = ("SELECT v FROM secrets", "SELECT touched()", "WITH x AS (SELECT 1) DELETE FROM rooms")
    for query in refused:
        assert not run_sql(query, con)["ok"], query
    assert con.in_transaction
    assert (con.text_factory, con.row_factory is None) == (bytes, False)
    con.close()
    assert harness.snapshot(tmp_path) == before


@pytest.mark.slow
def test_many_wide_queries_in_a_row_do_not_use_up_the_memory_limit(con: Reservo) -> None:
    for number in range(150):
        wide = ", ".join(f"sum(b.id + {number} + {column}) OVER (ORDER BY b.id)" for column in range(60))
        answer = run_sql(f"SELECT {wide} FROM bookings b", con)
        assert answer["ok"], (number, answer)


def test_the_gate_knows_the_four_tables_of_the_main_file_only() -> None:
    gate = Gate(["secrets", "dbstat"])
    assert gate.readable("rooms", "id", "main")
    assert not gate.readable("rooms", "id", "temp")
    assert not gate.readable("secrets", "", None)
    assert not gate.readable("pragma_table_info", "", None)
    assert gate.readable("a_common_table", "", None)
    assert not gate.readable("a_common_table", "", "main")


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
