"""Reservo's file, made from `data/reservo.sql`: built in memory, then published whole or not at all.

An existing file is never touched, whatever it holds. The data is fixed, so two builds by the same SQLite are equal.
"""

import contextlib
import secrets
import sqlite3
from pathlib import Path

from src import tools
from src.base.errors import Precondition
from src.base.paths import dangling, results_folder

SOURCE = Path(__file__).resolve().parents[2] / "data" / "reservo.sql"


def default_path(folder: Path | None) -> Path:
    """Return where the commands keep the database: `reservo.db` in the folder of results."""
    return results_folder(folder) / "reservo.db"


def image(source: Path = SOURCE) -> bytes:
    """Return the bytes of a database file holding what `source` says; sqlite3.Error when its rows break its rules."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as con:
        con.execute("PRAGMA foreign_keys = ON")
        con.executescript(source.read_text(encoding="utf-8"))
        return con.serialize()


def write_new(content: bytes, path: Path) -> None:
    """Write `content` to the new file `path` in one step; FileExistsError, and no change, if the name is taken."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(content)
        tools.publish(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def create(path: str | Path) -> Path:
    """Build Reservo at `path` and return it; Precondition when the name is taken or its folder does not exist."""
    target = Path(path)
    if target.is_dir():
        raise Precondition(f"{target} is a folder; name a file in it")
    if not target.parent.is_dir():
        raise Precondition(f"the folder {target.parent} does not exist; make it first, or name a file elsewhere")
    try:
        write_new(image(), target)
    except FileExistsError:
        raise Precondition(
            dangling(target) or f"{target} exists and is left as it is; name another file, or remove this one"
        ) from None
    except OSError as error:
        raise Precondition(f"cannot write {target}: {error.strerror or error}; name a file elsewhere") from None
    return target
