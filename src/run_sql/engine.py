"""The engine's side: one connection for one statement, opened read-only, with bounds and a closed gate.

This runs in the process that `serve` starts for the statement, never in the caller's; that process has the system's
limits on time, memory and files. Each layer here is one function in LAYERS and stops by itself what it claims to stop.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from src.base.sqlite_files import in_wal_mode
from src.run_sql.gate import Gate
from src.run_sql.pitfalls import Misread, check
from src.run_sql.records import Answer
from src.run_sql.text import MAX_QUERY_CHARS, in_backticks
from src.run_sql.values import MAX_ERROR_CHARS, columns, cut, decode, fetch

MEMORY_BYTES = 48 * 2**20  # of the statement's process, of which Python itself needs about 9 MiB
LOCK_SECONDS = 0.3  # how long a writer may keep the file from us: the promise is 1 s in all
MAX_VALUE_BYTES = 20_000  # of one text, blob or row while a query runs; a cell of the answer is cut long before
SIMPLE_CHARS = 1_000  # what breaks an old engine silently is long or has a long program; neither is run in a
SIMPLE_OPCODES = 100  # process that serves on. The lesson's queries have 11 to 40 opcodes.
MAX_UTF8_BYTES = 4  # of one character

# Of https://sqlite.org/security.html; its figures for depth and compounds refuse honest queries, so ours are larger.
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: MAX_QUERY_CHARS * MAX_UTF8_BYTES + len("EXPLAIN "),
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 25_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 50,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}
EMPTY = (
    "SELECT * FROM rooms LIMIT 0",
    "SELECT * FROM members LIMIT 0",
    "SELECT * FROM bookings LIMIT 0",
    "SELECT * FROM payments LIMIT 0",
)
ALL_NAMES = "SELECT name FROM sqlite_master UNION SELECT name FROM pragma_module_list"

# What a statement can make Python raise: besides SQLite's errors, the limit on memory (MemoryError), text that is not
# UTF-8 and NUL (ValueError), integers beyond 64 bits (OverflowError), odd types (TypeError), and a file that is gone.
FAILURES = (sqlite3.Error, sqlite3.Warning, MemoryError, OverflowError, RecursionError, TypeError, ValueError, OSError)


class Engine(sqlite3.Connection):
    """A connection for one statement."""

    gate: Gate | None = None


Layer = Callable[[Engine], None]


def refuse_writes(con: Engine) -> None:
    """Make the engine refuse every change to the content of a database, whatever the file's mode."""
    con.execute("PRAGMA query_only = ON")


def keep_temporary_in_memory(con: Engine) -> None:
    """Let sorters and temporary tables use memory, which is bounded, and not files, which may not be written."""
    con.execute("PRAGMA temp_store = MEMORY")


def bound_sizes(con: Engine) -> None:
    """Bound values, statements, columns, nesting and patterns, and attached files to none."""
    for category, limit in LIMITS.items():
        con.setlimit(category, limit)


def close_gate(con: Engine) -> None:
    """Let a compiled statement read the four tables and nothing else."""
    con.gate = Gate(name for (name,) in con.execute(ALL_NAMES))
    con.set_authorizer(con.gate)


# The gate last: it would refuse the settings before it.
LAYERS: tuple[Layer, ...] = (refuse_writes, keep_temporary_in_memory, bound_sizes, close_gate)


def check_file(file: Path) -> None:
    """Raise sqlite3.OperationalError unless `file` can be read without anything being created beside it."""
    if not file.is_file():
        raise sqlite3.OperationalError(f"unable to open database file: {file} is not a file")
    if in_wal_mode(file):
        raise sqlite3.OperationalError(f"{file} is in WAL mode, and reading it would create files beside it")


def connect(file: Path, mode: str = "ro", layers: tuple[Layer, ...] = LAYERS) -> Engine:
    """Open a file for one statement, with the given layers; all of them, and read-only, outside of tests.

    Raises sqlite3.Error or OSError when the file cannot be read.
    """
    check_file(file)
    # as_uri() escapes `?`, `#` and `%`, which would otherwise end the path and open, or create, another file.
    return opened(f"{file.as_uri()}?mode={mode}", layers)


def opened(uri: str, layers: tuple[Layer, ...]) -> Engine:
    """Open what a URI of SQLite names, with the given layers."""
    con = sqlite3.connect(uri, uri=True, factory=Engine, isolation_level=None, timeout=LOCK_SECONDS)
    con.text_factory = decode
    for layer in layers:
        layer(con)
    return con


def warm_up() -> None:
    """Do once what the first statement of a process would have to do: imports and other first uses."""
    Path("/").as_uri()
    with closing(opened("file::memory:", LAYERS)) as con:
        statement = 'SELECT "name", 1.5 FROM (SELECT 2 AS name)'
        compiled(con.cursor(), statement)
        ran(con.cursor(), statement, 1)


def compiled(cursor: sqlite3.Cursor, statement: str) -> int:
    """Compile a statement without running it and return the length of its program in opcodes.

    EXPLAIN is no safeguard by itself, since some statements act while they compile; the gate is closed to those.
    """
    program = cursor.execute("EXPLAIN " + statement).fetchall()
    # SQLite 3.53 does not ask the gate about json_each and its like; their program opens a virtual table all the same.
    if any(opcode == "VOpen" for _, opcode, *_ in program):
        raise sqlite3.OperationalError("table-valued functions and virtual tables are not authorized")
    # subtle: "name" in double quotes is a text to SQLite where no such column exists; in backticks it is a name only.
    if '"' in statement:
        cursor.execute("EXPLAIN " + in_backticks(statement))
    check(statement, lambda: column_names(cursor))
    return len(program)


def column_names(cursor: sqlite3.Cursor) -> set[str]:
    """Return the names of all columns of the four tables, in lower case."""
    return {name.lower() for query in EMPTY for name in columns(cursor.execute(query))}


def ran(cursor: sqlite3.Cursor, statement: str, max_rows: int) -> Answer:
    """Run a statement and return the answer with its columns and rows."""
    cursor.execute(statement)
    rows, truncated = fetch(cursor, max_rows)
    return {"ok": True, "columns": columns(cursor), "rows": rows, "truncated": truncated}


def wording(raised: BaseException, gate: Gate | None) -> str:
    """Return the error text for what a statement raised: the engine's own, unless a limit of ours was the cause."""
    if isinstance(raised, MemoryError):
        return f"memoria agotada: más de {MEMORY_BYTES >> 20} MiB"
    if isinstance(raised, Misread):
        return cut(str(raised), MAX_ERROR_CHARS)
    text = f"{type(raised).__name__}: {raised}"
    # A table-valued function is refused as a change of sqlite_master, a detail that would mislead.
    if gate and str(raised) == "not authorized" and "sqlite_" not in gate.denied:
        text += f" ({gate.denied})"
    return cut(text, MAX_ERROR_CHARS)


class Outcome(NamedTuple):
    """An answer, and whether the process that made it may run another statement."""

    answer: Answer
    simple: bool


def outcome(
    file: Path, statement: str, max_rows: int | None, mode: str = "ro", layers: tuple[Layer, ...] = LAYERS
) -> Outcome:
    """Run a statement on a connection of its own, or only compile it where `max_rows` is None; raises nothing."""
    gate = None
    simple = len(statement) <= SIMPLE_CHARS
    try:
        with closing(connect(file, mode, layers)) as con:
            gate = con.gate
            cursor = con.cursor()
            simple = compiled(cursor, statement) <= SIMPLE_OPCODES and simple
            return Outcome({"ok": True} if max_rows is None else ran(cursor, statement, max_rows), simple)
    except FAILURES as raised:
        return Outcome({"ok": False, "error": wording(raised, gate)}, simple and not isinstance(raised, MemoryError))
