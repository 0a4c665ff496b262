"""The side of the contract that runs: check the query, have it run in a process apart, answer in one shape.

Whatever comes in, the answer is `{ok: true, columns, rows, truncated}` or `{ok: false, error}`, fit for JSON and
bounded in size; no exception of Python's or SQLite's leaves `run_sql`. Refusals of this code are in the lesson's
Spanish, refusals of the engine in the engine's words, since a model corrects its query by them.
"""

import sqlite3
from typing import cast

from src.run_sql.contract import TABLES
from src.run_sql.guard import Reservo, file_of
from src.run_sql.records import Answer
from src.run_sql.text import MAX_QUERY_CHARS, split_statement, text_fault
from src.run_sql.values import MAX_ERROR_CHARS, cut
from src.run_sql.worker import Worker

MAX_ROWS = 100
NO_CONNECTION = "la conexión no es de sqlite3: debe venir de open_reservo"
IN_MEMORY = "la conexión no tiene archivo: debe venir de open_reservo"

COUNTS = {
    "rooms": "SELECT COUNT(*) FROM rooms",
    "members": "SELECT COUNT(*) FROM members",
    "bookings": "SELECT COUNT(*) FROM bookings",
    "payments": "SELECT COUNT(*) FROM payments",
}


def query_fault(query: object) -> str | None:
    """Say why `query` is not worth reading, before any work on its text, or None."""
    if type(query) is not str:  # subtle: a subclass could change what its own methods answer
        return "la consulta debe ser texto"
    if len(query) > MAX_QUERY_CHARS:
        return f"consulta demasiado larga: {len(query)} caracteres (máximo {MAX_QUERY_CHARS})"
    if any("\ud800" <= character <= "\udfff" for character in query):  # how bytes that are no text come in
        return "la consulta tiene caracteres que no existen en UTF-8"
    return None


def rows_fault(max_rows: object) -> str | None:
    """Say why `max_rows` is not a row limit, or None."""
    if type(max_rows) is int and 1 <= max_rows <= MAX_ROWS:  # subtle: a bool is an int
        return None
    return f"max_rows debe ser un entero de 1 a {MAX_ROWS}"


def asked(con: sqlite3.Connection, statement: str, max_rows: int | None) -> Answer:
    """Return what the process beside this one makes of a statement; `max_rows` None only compiles it.

    A connection of `open_reservo` keeps that process; any other gets one for this call. Either way the statement runs
    on the connection's file, reopened read-only, and the connection itself is left as it is.
    """
    if not isinstance(con, sqlite3.Connection):
        return {"ok": False, "error": NO_CONNECTION}
    try:
        file = file_of(con)
    except (sqlite3.Error, TypeError, ValueError) as refused:
        return {"ok": False, "error": cut(f"{type(refused).__name__}: {refused}", MAX_ERROR_CHARS)}
    if not file:
        return {"ok": False, "error": IN_MEMORY}
    if isinstance(con, Reservo):
        return con.worker.ask(file, statement, max_rows)
    once = Worker()
    try:
        return once.ask(file, statement, max_rows)
    finally:
        once.stop()


def validate(sql: str, con: sqlite3.Connection) -> tuple[bool, str | None]:
    """Check form and names without running the query, e.g. `DELETE FROM rooms` -> `(False, "no es de solo lectura …")`.

    Returns (True, None) or (False, error in at most MAX_ERROR_CHARS characters).
    """
    # The text first: what is wrong with it is wrong on any connection.
    if fault := query_fault(sql) or text_fault(sql):
        return False, cut(fault, MAX_ERROR_CHARS)
    answer = asked(con, split_statement(sql).body, None)
    return answer["ok"], answer.get("error")


def run_sql(query: str, con: sqlite3.Connection, max_rows: int = MAX_ROWS) -> Answer:
    """Run one reading query, e.g. `SELECT id FROM rooms` -> `{"ok": True, "columns": ["id"], "rows": [[1], …], …}`.

    At most `max_rows` rows (1 to 100); `truncated` says that rows were left out. Anything wrong with query or arguments
    is `{"ok": False, "error": …}`. What `validate` checks is checked first, in the same process as the query runs in.
    """
    fault = query_fault(query) or text_fault(query) or rows_fault(max_rows)
    if fault:
        return {"ok": False, "error": cut(fault, MAX_ERROR_CHARS)}
    return asked(con, split_statement(query).body, max_rows)


def count_rows(table: str, con: sqlite3.Connection) -> Answer:
    """Count a table's rows, e.g. `rooms` -> `{"ok": True, "count": 5}`; any other name is an error, never SQL."""
    if type(table) is not str or table not in COUNTS:
        return {"ok": False, "error": f"tabla desconocida (válidas: {', '.join(TABLES)})"}
    answer = run_sql(COUNTS[table], con)
    return {"ok": True, "count": cast(int, answer["rows"][0][0])} if answer["ok"] else answer
