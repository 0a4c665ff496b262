"""The prepared database: checked once before a command's work, then opened read-only as often as it needs.

The file is in a folder that others may write to. A fault in it is a missing precondition, reported before a model is
loaded for nothing.
"""

import contextlib
import errno
import os
import sqlite3
from pathlib import Path

from src.base.errors import Precondition
from src.base.paths import no_file
from src.base.printable import excerpt
from src.base.sqlite_files import SIDECARS, in_wal_mode
from src.runs.outputs import Outputs
from src.tools import readonly

FRESH = "start from a fresh copy of the project, or prepare another folder (--outputs)"
WHOLE = "PRAGMA integrity_check(1)"  # tables and indexes; a few milliseconds with 5,000 products
# SQLite keeps any type in any column; JSON cannot carry a blob.
STRANGE = (
    "SELECT count(*) FROM products WHERE typeof(ref) <> 'text' OR typeof(name) <> 'text' OR typeof(stock) <> 'integer'"
)


def check(outputs: Outputs) -> None:
    """Raise `Precondition` unless the database exists, is intact, is ours, and nothing else writes to it."""
    with opened(outputs):
        pass


def connect(outputs: Outputs) -> sqlite3.Connection:
    """Open the database read-only without looking at its content: `check` has done that; once for each thread."""
    _check_file(outputs)
    try:
        return readonly(outputs.database)
    except sqlite3.Error as exc:
        raise _unreadable(outputs, exc) from None


def opened(outputs: Outputs) -> "contextlib.closing[sqlite3.Connection]":
    """Check the database and open it for a block, for a command that needs it once."""
    with contextlib.ExitStack() as unless_whole:
        db = connect(outputs)
        unless_whole.callback(db.close)
        _check_content(outputs, db)
        unless_whole.pop_all()
    return contextlib.closing(db)


def stocks(db: sqlite3.Connection) -> dict[str, int]:
    """Return the stock of every reference, in their order; for examples, never for an answer."""
    return dict(db.execute("SELECT ref,stock FROM products ORDER BY ref"))


def _check_file(outputs: Outputs) -> None:
    database = outputs.database
    if reason := no_file(database):
        raise Precondition(reason)
    if not database.is_file():
        raise Precondition(f"{database} is missing; build it with: {outputs.command('prepare')}")
    for suffix in SIDECARS:
        if os.path.lexists(f"{database}{suffix}"):
            raise Precondition(
                f"{database}{suffix} lies beside the database: another program writes there, or was "
                f"interrupted; {FRESH}"
            )
    try:
        write_ahead = in_wal_mode(database)
    except OSError as exc:
        if exc.errno in (errno.EMFILE, errno.ENFILE):
            raise _no_descriptors(database) from None
        raise Precondition(f"{database} cannot be read ({exc.strerror}); see its permissions") from None
    if write_ahead:
        raise Precondition(f"{database} is in WAL mode, which 'prepare' never sets; {FRESH}")


def _check_content(outputs: Outputs, db: sqlite3.Connection) -> None:
    try:
        (fault,) = db.execute(WHOLE).fetchone()
        (strange,) = db.execute(STRANGE).fetchone()
    except sqlite3.Error as exc:
        raise _unreadable(outputs, exc) from None
    if fault != "ok":
        raise Precondition(f"{outputs.database} is damaged ({excerpt(fault)}); {FRESH}")
    if strange:
        raise Precondition(f"{outputs.database} holds {strange} rows that 'prepare' would not write; {FRESH}")


def _no_descriptors(database: Path) -> Precondition:
    """What a run in flight met on this machine's side: it costs no question."""
    from src.server.failures import LOCAL, Ours  # with urllib3, which the commands without a model do not load

    return Ours(f"{database} cannot be opened: {LOCAL[errno.EMFILE]}")


def _unreadable(outputs: Outputs, exc: sqlite3.Error) -> Precondition:
    """What SQLite cannot read, with the remedy for that cause: a lock is no damage."""
    code = getattr(exc, "sqlite_errorcode", 0)  # the module's own errors have none
    if code & 0xFF == sqlite3.SQLITE_BUSY or code == sqlite3.SQLITE_IOERR_RDLOCK:
        return Precondition(
            f"{outputs.database} cannot be locked for reading ({exc}): another program is writing to it, or its file "
            "system has no locks; end that program, or name a folder on another file system with --outputs"
        )
    if code & 0xFF == sqlite3.SQLITE_CANTOPEN:  # the file was read a moment ago: its own words for no descriptor left
        return _no_descriptors(outputs.database)
    return Precondition(f"{outputs.database} cannot be read ({exc}); {FRESH}")
