"""The guarded connection: a file opened read-only, with limits on size, memory and time.

Each layer is one function in LAYERS and stops by itself what it claims to stop; `open_reservo` puts them on, and
`call` puts them on again for every query, so that nothing done to the connection in between loosens them. Outside of
a call the gate is down: the program's own statements are refused by the read-only file, as the lesson shows.
"""

import shlex
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from src.base.paths import near
from src.base.sqlite_files import in_wal_mode
from src.run_sql.contract import TABLES
from src.run_sql.gate import Gate
from src.run_sql.text import MAX_QUERY_CHARS
from src.run_sql.values import decode

CALL_SECONDS = 0.4  # of compiling, and again of running: a query of the lesson needs 1 ms, the promise is 1 s in all
STEP_OPCODES = 20  # opcodes between two looks at the clock: one may be a function over MAX_VALUE_BYTES of text
MAX_VALUE_BYTES = 20_000  # of one text, blob or row while a query runs: bounds what a single function call can cost
HEAP_BYTES = 16 * 2**20  # of SQLite's own memory, all connections of the process together (2 MiB of it page cache)
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
ALL_NAMES = """
    SELECT name FROM sqlite_master UNION SELECT name FROM sqlite_temp_master UNION SELECT name FROM pragma_module_list
"""


class Reservo(sqlite3.Connection):
    """A connection that `open_reservo` made, the only kind that `run_sql` takes."""

    layers: tuple["Layer", ...]
    deadline: float = float("inf")  # of time.monotonic(), in seconds
    gate: Gate | None = None  # of the last call
    stopped_by: str = ""  # why the call under way was stopped: "", "time" or "request"

    def out_of_time(self) -> bool:
        """Say whether the call under way must end, and remember it for the error text."""
        if time.monotonic() > self.deadline:
            self.stopped_by = self.stopped_by or "time"
        return bool(self.stopped_by)

    def interrupt(self) -> None:
        """Stop the call under way, from another thread."""
        self.stopped_by = self.stopped_by or "request"
        super().interrupt()


Layer = Callable[[Reservo], None]


def refuse_writes(con: Reservo) -> None:
    """Make the engine refuse every change to the content of a database, whatever the file's mode."""
    con.execute("PRAGMA query_only = ON")


def keep_temporary_in_memory(con: Reservo) -> None:
    """Let sorters and temporary tables use memory, which is bounded, and not files, which are not."""
    con.execute("PRAGMA temp_store = MEMORY")


def distrust_schema(con: Reservo) -> None:
    """Keep views and generated columns of a foreign file from calling functions with side effects."""
    con.execute("PRAGMA trusted_schema = OFF")


def bound_memory(con: Reservo) -> None:
    """Bound SQLite's memory in the whole process; SQLite lets this limit be lowered, never raised."""
    con.execute(f"PRAGMA hard_heap_limit = {HEAP_BYTES:d}")


def bound_sizes(con: Reservo) -> None:
    """Bound values, statements, columns, nesting and patterns, and attached files to none."""
    for category, limit in LIMITS.items():
        con.setlimit(category, limit)


def watch_clock(con: Reservo) -> None:
    """Stop a statement that runs past the deadline of its call."""
    con.set_progress_handler(con.out_of_time, STEP_OPCODES)


def close_gate(con: Reservo) -> None:
    """Let a compiled statement read the four tables and nothing else, until the call ends."""
    con.gate = Gate([name for (name,) in con.execute(ALL_NAMES)], con.out_of_time)
    con.set_authorizer(con.gate)


CALL_LAYERS: tuple[Layer, ...] = (watch_clock, close_gate)  # the gate last: it would refuse the settings before it
LAYERS: tuple[Layer, ...] = (
    refuse_writes,
    keep_temporary_in_memory,
    distrust_schema,
    bound_memory,
    bound_sizes,
    *CALL_LAYERS,
)
Reservo.layers = LAYERS  # also for a connection made by other means than `connect`


def lost_in_a_callback(error: sqlite3.DatabaseError, con: Reservo) -> bool:
    """Say whether `error` is all that is left of Ctrl-C.

    Subtle: Ctrl-C is raised in whatever Python code runs next, often one of our callbacks, and SQLite takes what a
    callback raises for a plain no: an interruption or a refusal of which the clock and the gate know nothing.
    """
    if str(error) == "interrupted":
        return not con.stopped_by
    code = getattr(error, "sqlite_errorcode", None)  # the module's own errors have none
    refused = code == sqlite3.SQLITE_AUTH or str(error).startswith("not authorized to use function")
    return refused and con.gate is not None and not con.gate.denied


@contextmanager
def call(con: Reservo) -> Iterator[sqlite3.Cursor]:
    """Put the connection's layers on for one query and hand out the cursor that runs it.

    Raises sqlite3.ProgrammingError for a closed connection or another thread's, KeyboardInterrupt for Ctrl-C.
    """
    cursor = con.cursor()  # first: it refuses another thread before the state of that thread's call is touched
    factories = con.row_factory, con.text_factory
    con.row_factory, con.text_factory = None, decode
    cursor.row_factory = None
    con.stopped_by, con.deadline = "", time.monotonic() + CALL_SECONDS
    try:
        for layer in con.layers:
            layer(con)
        yield cursor
    except sqlite3.DatabaseError as stopped:
        if lost_in_a_callback(stopped, con):
            raise KeyboardInterrupt from None
        raise
    finally:
        con.row_factory, con.text_factory = factories
        cursor.close()
        con.set_progress_handler(None, 0)
        con.set_authorizer(None)
        if con.in_transaction:
            con.rollback()


def connect(path: str | Path, mode: str = "ro", layers: tuple[Layer, ...] = LAYERS) -> Reservo:
    """Open a Reservo file with the given layers; `open_reservo` is the way to do it outside of tests.

    Raises sqlite3.Error when the file is missing, is no database, lacks one of the tables or is in WAL mode.
    """
    file = Path(path).resolve()
    check_file(file)
    # as_uri() escapes `?`, `#` and `%`, which would otherwise end the path and open, or create, another file.
    con = sqlite3.connect(f"{file.as_uri()}?mode={mode}", uri=True, factory=Reservo, isolation_level=None)
    try:
        con.layers = layers
        for layer in layers:
            if layer not in CALL_LAYERS:
                layer(con)
        check_tables(con, file)
    except sqlite3.Error:
        con.close()
        raise
    return con


def check_file(file: Path) -> None:
    """Raise sqlite3.OperationalError unless `file` can be read without anything being created beside it."""
    if not file.exists():
        remedy = f"python -m src.run_sql create {shlex.quote(str(near(file)))}"
        raise sqlite3.OperationalError(f"unable to open database file: no {near(file)}; make it with: {remedy}")
    if not file.is_file():
        raise sqlite3.OperationalError(f"unable to open database file: {file} is not a file")
    if in_wal_mode(file):
        raise sqlite3.OperationalError(f"{file} is in WAL mode, and reading it would create files beside it")


def check_tables(con: Reservo, file: Path) -> None:
    """Raise sqlite3.OperationalError unless the file holds the four tables."""
    found = {name.lower() for (name,) in con.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if missing := [table for table in TABLES if table not in found]:
        raise sqlite3.OperationalError(f"{file} is not a Reservo database: no table {', '.join(missing)}")


def open_reservo(path: str | Path = "reservo.db") -> Reservo:
    """Open Reservo for reading only, e.g. `open_reservo("outputs/reservo.db")`; close it like any connection.

    The default is the lesson's, in the current folder; the commands keep theirs in the folder of results.

    Raises sqlite3.Error when the file is missing (none is created), is not a Reservo database or is in WAL mode.
    """
    return connect(path)
