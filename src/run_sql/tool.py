"""The side of the contract that runs: check the query, run it under guard, answer in one shape.

Whatever comes in, the answer is `{ok: true, columns, rows, truncated}` or `{ok: false, error}`, fit for JSON and
bounded in size; no exception of Python's or SQLite's leaves `run_sql`. Refusals of this code are in the lesson's
Spanish, refusals of the engine in the engine's words, since a model corrects its query by them.
"""

import sqlite3
from collections.abc import Callable
from typing import Any, TypeAlias

from src.run_sql.contract import TABLES
from src.run_sql.guard import CALL_SECONDS, HEAP_BYTES, Reservo, call
from src.run_sql.text import MAX_QUERY_CHARS, split_statement, text_fault
from src.run_sql.values import MAX_ERROR_CHARS, columns, cut, fetch

Answer: TypeAlias = dict[str, Any]

MAX_ROWS = 100
UNGUARDED = "la conexión no está protegida: debe venir de open_reservo"

# What a statement can make Python raise: besides SQLite's errors, running out of the heap limit (MemoryError), text
# that is not UTF-8 and NUL (ValueError), integers beyond 64 bits (OverflowError), odd types (TypeError).
FAILURES = (sqlite3.Error, sqlite3.Warning, MemoryError, OverflowError, RecursionError, TypeError, ValueError)

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
    return None


def rows_fault(max_rows: object) -> str | None:
    """Say why `max_rows` is no row limit, or None."""
    if type(max_rows) is int and 1 <= max_rows <= MAX_ROWS:  # subtle: a bool is an int
        return None
    return f"max_rows debe ser un entero de 1 a {MAX_ROWS}"


def wording(raised: BaseException, con: Reservo) -> str:
    """Return the error text for what a statement raised: the engine's own, unless a limit of ours was the cause."""
    if con.stopped_by == "time" and not isinstance(raised, sqlite3.ProgrammingError):
        return f"tiempo agotado: más de {CALL_SECONDS} s"
    if isinstance(raised, MemoryError):
        return f"memoria agotada: más de {HEAP_BYTES >> 20} MiB"
    if isinstance(raised, UnicodeEncodeError):
        return "la consulta tiene caracteres que no existen en UTF-8"
    text = f"{type(raised).__name__}: {raised}"
    # A table-valued function is refused as a change of sqlite_master, a detail that would mislead.
    if con.gate and str(raised) == "not authorized" and "sqlite_" not in con.gate.denied:
        text += f" ({con.gate.denied})"
    return cut(text, MAX_ERROR_CHARS)


def guarded(con: sqlite3.Connection, work: Callable[[sqlite3.Cursor], Answer]) -> Answer:
    """Return what `work` makes of a cursor in one guarded call; whatever it raises is the answer's error."""
    if not isinstance(con, Reservo):
        return {"ok": False, "error": UNGUARDED}
    try:
        with call(con) as cursor:
            return work(cursor)
    except FAILURES as raised:
        return {"ok": False, "error": wording(raised, con)}


def validate(sql: str, con: sqlite3.Connection) -> tuple[bool, str | None]:
    """Check form and names without running the query, e.g. `DELETE FROM rooms` -> `(False, "no es de solo lectura …")`.

    Returns (True, None) or (False, error in at most MAX_ERROR_CHARS characters). `con` must come from `open_reservo`.
    """
    # The text first: what is wrong with it is wrong on any connection.
    if fault := query_fault(sql) or text_fault(sql):
        return False, cut(fault, MAX_ERROR_CHARS)
    answer = guarded(con, lambda cursor: compiled(cursor, split_statement(sql).body))
    return answer["ok"], answer.get("error")


def compiled(cursor: sqlite3.Cursor, statement: str) -> Answer:
    """Compile a statement without running it.

    EXPLAIN is no safeguard by itself, since some statements act while they compile; the gate is closed to those.
    """
    cursor.execute("EXPLAIN " + statement)
    return {"ok": True}


def ran(cursor: sqlite3.Cursor, statement: str, max_rows: int) -> Answer:
    """Run a statement and return the answer with its columns and rows."""
    cursor.execute(statement)
    rows, truncated = fetch(cursor, max_rows)
    return {"ok": True, "columns": columns(cursor), "rows": rows, "truncated": truncated}


def run_sql(query: str, con: sqlite3.Connection, max_rows: int = MAX_ROWS) -> Answer:
    """Run one reading query, e.g. `SELECT id FROM rooms` -> `{"ok": True, "columns": ["id"], "rows": [[1], …], …}`.

    At most `max_rows` rows (1 to 100); `truncated` says that rows were left out or a long cell was cut. Anything
    wrong with query or arguments is `{"ok": False, "error": …}`. `con` must come from `open_reservo`.
    """
    valid, error = validate(query, con)
    fault = error if not valid else rows_fault(max_rows)
    if fault is not None:
        return {"ok": False, "error": fault}
    return guarded(con, lambda cursor: ran(cursor, split_statement(query).body, max_rows))


def count_rows(table: str, con: sqlite3.Connection) -> Answer:
    """Count a table's rows, e.g. `rooms` -> `{"ok": True, "count": 5}`; any other name is an error, never SQL."""
    if type(table) is not str or table not in COUNTS:
        return {"ok": False, "error": f"tabla desconocida (válidas: {', '.join(TABLES)})"}
    answer = run_sql(COUNTS[table], con)
    return {"ok": True, "count": answer["rows"][0][0]} if answer["ok"] else answer
