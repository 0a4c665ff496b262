"""The connection that the program holds: Reservo's file, opened for reading only.

What a model writes never runs on it. It names the file, and `run_sql` has the statement run in another process
(`worker`), where an engine that breaks breaks nothing else; closing the connection ends that process.
"""

import sqlite3
import threading
from pathlib import Path

from src.base import shell
from src.base.paths import near
from src.run_sql.contract import TABLES
from src.run_sql.engine import check_file
from src.run_sql.worker import Worker

READING = threading.Lock()


class Reservo(sqlite3.Connection):
    """A connection that keeps a process for the statements of `run_sql`, from the first of them until it is closed."""

    _worker: Worker | None = None

    @property
    def worker(self) -> Worker:
        """The process of this connection."""
        if self._worker is None:
            self._worker = Worker()
        return self._worker

    def interrupt(self) -> None:
        """Stop the statement under way, from another thread."""
        if self._worker:
            self._worker.interrupt()
        super().interrupt()

    def close(self) -> None:
        """Close the connection and end its process; sqlite3.ProgrammingError in another thread than its own."""
        super().close()
        if self._worker:
            self._worker.stop()


def file_of(con: sqlite3.Connection) -> bytes:
    """Return the path of the connection's file, empty for a database in memory; the connection stays as it is.

    Raises sqlite3.ProgrammingError for a closed connection or another thread's.
    """
    cursor = con.cursor()
    cursor.row_factory = None
    with READING:  # threads may share a connection, and each would take the other's setting for the caller's
        factory = con.text_factory
        con.text_factory = bytes  # a path need not be text
        try:
            # subtle: the table-valued form of this PRAGMA would wait for a writer, to read the schema
            found = cursor.execute("PRAGMA database_list").fetchall()
        finally:
            con.text_factory = factory
    return next((bytes(file or b"") for _, name, file in found if name == b"main"), b"")


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
    file = Path(path).resolve()
    if not file.exists():
        remedy = shell.command("-m", "src.run_sql", "create", str(near(file)))
        raise sqlite3.OperationalError(f"unable to open database file: no {near(file)}; make it with: {remedy}")
    check_file(file)
    # as_uri() escapes `?`, `#` and `%`, which would otherwise end the path and open, or create, another file.
    con = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, factory=Reservo, isolation_level=None)
    try:
        con.execute("PRAGMA query_only = ON")
        check_tables(con, file)
    except sqlite3.Error:
        con.close()
        raise
    return con
