"""The gate: the two tools that the model may propose, and the read-only database behind them.

Read `toolcall()` from top to bottom: no SQL is reached before every check has passed. Standard library only.
Not covered: who is asking, which references a caller may see, and how often; it is the caller who keeps the counter.
"""

import errno
import hashlib
import os
import re
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from src.base.records import Observation

TOOLS = ("rechercher_produit", "consulter_stock")
MAX_CALLS = 3  # counter values 0, 1 and 2 are accepted
REFERENCE = re.compile("REF-[0-9]{3}")  # [0-9], not \d: \d also matches digits of other scripts
COLUMNS = ("ref", "name", "stock")
READ = "SELECT ref,name,stock FROM products WHERE ref=?"
TABLE = "CREATE TABLE products(ref TEXT PRIMARY KEY, name TEXT NOT NULL, stock INTEGER NOT NULL)"
INSERT = "INSERT INTO products(ref,name,stock) VALUES(:ref,:name,:stock)"

UNFORCED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)  # what a file system says that cannot be told to write at once


def create(path: str | os.PathLike[str], products: Iterable[Mapping[str, Any]]) -> None:
    """Build a new SQLite file at `path` from records such as `{"ref": "REF-000", "name": "Produit 0", "stock": 0}`.

    Raises `FileExistsError` when that name is taken, and leaves what has it alone. The file is built under another name
    beside it and appears complete or not at all.
    """
    final = Path(path)
    if os.path.lexists(final):
        raise FileExistsError(f"{final} exists")
    draft = final.with_name(f".{os.urandom(8).hex()}.tmp")  # short: any legal name has a draft and a journal beside it
    try:
        db = sqlite3.connect(draft)
        try:
            db.execute("PRAGMA synchronous = OFF")  # nobody reads the draft, and publish() forces it to the disk once
            with db:
                db.execute(TABLE)
                db.executemany(INSERT, products)
        finally:
            db.close()
        publish(draft, final)
    finally:
        draft.unlink(missing_ok=True)
        draft.with_name(draft.name + "-journal").unlink(missing_ok=True)


def publish(draft: Path, final: Path) -> None:
    """Give the finished draft its name; `FileExistsError` if a file of that name has appeared in the meantime."""
    with draft.open("rb") as file:
        try:
            os.fsync(file.fileno())
        except OSError as exc:
            if exc.errno not in UNFORCED:
                raise
    try:
        os.link(draft, final)  # unlike a rename, a link never replaces
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: reserve the name, then replace the reservation
        final.touch(exist_ok=False)
        try:
            draft.replace(final)
        except OSError:
            final.unlink(missing_ok=True)
            raise


def readonly(path: str | os.PathLike[str]) -> sqlite3.Connection:
    """Open the database at `path` so that SQLite itself refuses every write.

    Raises `sqlite3.OperationalError` when the file is missing; never creates one. Subtle: `as_uri()` escapes `?`, `#`
    and `%`; a URI put together by hand would open, or create, another file. And `mode=ro` guards this file only:
    without the other two settings ATTACH, VACUUM INTO and temporary tables would still write elsewhere.
    """
    db = sqlite3.connect(Path(path).resolve().as_uri() + "?mode=ro", uri=True)
    db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    db.execute("PRAGMA query_only=ON")
    return db


def digest(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of the file's bytes as 64 hex digits, read in blocks."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def toolcall(db: sqlite3.Connection, call: Any, count: Any = 0) -> "Observation":
    """Check a proposed call, then read one row: REF-000 gives its ref, name and stock, REF-999 `{"found": False}`.

    `count` is the number of calls already made; nothing remembers it between calls.
    Raises `ValueError` for anything but an allowed call, whatever its type, before any SQL.
    """
    # Subtle: exact types, not isinstance: bool is an int, and a subclass may bring its own == and hash.
    if type(count) is not int or not 0 <= count < MAX_CALLS:
        raise ValueError("Budget d’appels épuisé ou invalide")

    if not _has_keys(call, {"outil", "arguments"}) or type(call["outil"]) is not str or call["outil"] not in TOOLS:
        raise ValueError("Outil interdit ou appel mal formé")

    args = call["arguments"]
    if not _has_keys(args, {"ref"}) or type(args["ref"]) is not str or not REFERENCE.fullmatch(args["ref"]):
        raise ValueError("Référence ou arguments invalides")

    row = db.execute(READ, (args["ref"],)).fetchone()
    return {"found": False} if row is None else cast("Observation", dict(zip(COLUMNS, row, strict=True)))


def _has_keys(value: Any, keys: set[str]) -> bool:
    """Whether `value` is a plain dict with exactly these plain string keys."""
    return type(value) is dict and all(type(key) is str for key in value) and set(value) == keys
