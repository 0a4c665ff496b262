"""The lesson's own runs: the four queries, the bypass attempt, the row cap, and the three exercises.

Each function yields the lines to print; the result lines are the lesson's, to the byte. Nothing is asked of a model.
"""

import sqlite3
from collections.abc import Iterator

from src.base.printable import dumps
from src.run_sql.contract import TABLES, count_rows_tool, run_sql_tool
from src.run_sql.tool import count_rows, run_sql

QUERIES = (
    ("a good query", "SELECT name, capacity FROM rooms WHERE capacity >= 4 ORDER BY capacity"),
    ("an invented column, caught while compiling", "SELECT SUM(b.total) FROM bookings b"),
    ("a destructive statement, caught by its first word", "DELETE FROM rooms"),
    ("two statements in one, caught by their count", "SELECT COUNT(*) FROM rooms; DROP TABLE rooms"),
)
BYPASS = "DELETE FROM bookings"
CAPPED = "SELECT name FROM rooms ORDER BY id"
GROUPED = "SELECT tier, COUNT(*) AS n FROM members GROUP BY tier"
KEYS = {
    "ok": "whether the query ran",
    "columns": "the names, in the order of the cells of a row",
    "rows": "one list a row",
    "truncated": "whether there are more rows",
}


def bypass(con: sqlite3.Connection) -> Iterator[str]:
    """Send a DELETE straight to the connection, past run_sql, and count what is left."""
    try:
        con.execute(BYPASS)
    except sqlite3.Error as refused:
        yield f"{type(refused).__name__}: {refused}"
    (left,) = con.execute("SELECT COUNT(*) FROM bookings").fetchone()
    yield f"reservas intactas: {left}"


def demo(con: sqlite3.Connection) -> Iterator[str]:
    """Yield the lesson's worked example."""
    for number, (title, query) in enumerate(QUERIES, 1):
        yield from (f"{number}) {title}", f"   {query}", dumps(run_sql(query, con)), "")
    yield from ("5) past run_sql, straight to the read-only connection", f"   {BYPASS}", *bypass(con), "")
    yield from ("6) the row cap, max_rows=3", f"   {CAPPED}", dumps(run_sql(CAPPED, con, max_rows=3)))


def exercise_1() -> Iterator[str]:
    """Read the contract: its parameter, and the three hints in its description."""
    schema = run_sql_tool["input_schema"]
    yield f"parameters: {len(schema['properties'])}"
    for name, value in schema["properties"].items():
        yield f"  {name}: {value['type']}, {'required' if name in schema['required'] else 'optional'}"
    yield from ("hints in the description:", "  reading only (SELECT)", f"  the tables: {', '.join(TABLES)}")
    yield "  the shape of what comes back: {ok, columns, rows} or {ok: false, error}"


def exercise_2(con: sqlite3.Connection) -> Iterator[str]:
    """Show the shape of a success, key by key."""
    yield from (f"   {GROUPED}", dumps(run_sql(GROUPED, con)))
    yield from (f"  {key}: {meaning}" for key, meaning in KEYS.items())


def exercise_3(con: sqlite3.Connection) -> Iterator[str]:
    """Show the contract of count_rows, and its implementation on each table and on one that is not there."""
    yield dumps(count_rows_tool, indent=2)
    for table in (*TABLES, "usuarios"):
        yield f"   count_rows({table})"
        yield dumps(count_rows(table, con))


def exercises(con: sqlite3.Connection) -> Iterator[str]:
    """Yield the three exercises, solved."""
    yield from ("Exercise 1: read the contract", *exercise_1(), "")
    yield from ("Exercise 2: the shape of a success", *exercise_2(con), "")
    yield from ("Exercise 3: a contract for counting rows", *exercise_3(con))
