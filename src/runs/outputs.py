"""Which file each command writes, and the database opened, with a clear error when it is missing."""

import contextlib
import os
import shlex
import sqlite3
from pathlib import Path
from typing import NamedTuple

from src.base.errors import Precondition
from src.base.paths import ROOT, near
from src.base.printable import excerpt
from src.tools import readonly

FRESH = "start from a fresh copy"
# With them the file's digest is not the digest of the data, and even a reader may write beside the file.
SIDECARS = ("-journal", "-wal", "-shm")
JOURNAL_MODE = slice(18, 20)  # bytes of the file's header, sqlite.org/fileformat2.html section 1.3
WRITE_AHEAD = b"\x02\x02"
# SQLite keeps any type in any column; JSON cannot carry a blob.
WHOLE = "PRAGMA integrity_check(1)"  # tables and indexes; at most 1,000 references, so it takes no time that is seen
STRANGE = (
    "SELECT count(*) FROM products WHERE typeof(ref) <> 'text' OR typeof(name) <> 'text' OR typeof(stock) <> 'integer'"
)
DEFAULT = near(ROOT / "outputs")


def in_wal_mode(database: Path) -> bool:
    """Whether even reading this SQLite file would create others beside it."""
    with database.open("rb") as file:
        return file.read(JOURNAL_MODE.stop)[JOURNAL_MODE] == WRITE_AHEAD


class Outputs(NamedTuple):
    """The folder that receives results, `outputs/` unless `--outputs` or R3_OUTPUTS says otherwise."""

    folder: Path

    @classmethod
    def named(cls, folder: Path | None) -> "Outputs":
        """The folder given, else the one of R3_OUTPUTS, else the project's own."""
        return cls(folder or Path(os.environ.get("R3_OUTPUTS") or DEFAULT))

    def command(self, words: str) -> str:
        """The command to run next for this folder, as the remedy of an error names it."""
        named = "" if self.folder == DEFAULT else f"--outputs {shlex.quote(str(self.folder))} "
        return f"python -m src.cli {named}{words}"

    @property
    def database(self) -> Path:
        return self.folder / "stock.db"

    def json(self, command: str) -> Path:
        """The result file of a command, e.g. `agent.json`."""
        return self.folder / f"{command}.json"

    @property
    def journal(self) -> Path:
        return self.folder / "agent.journal.jsonl"

    def open_database(self) -> sqlite3.Connection:
        """Open the prepared database read-only; `Precondition` when it is missing or not ours."""
        if not self.database.is_file():
            raise Precondition(f"{self.database} is missing; build it with: {self.command('prepare')}")
        for suffix in SIDECARS:
            if os.path.lexists(f"{self.database}{suffix}"):
                raise Precondition(
                    f"{self.database}{suffix} lies beside the database: another program writes there, or was "
                    f"interrupted; {FRESH}"
                )
        try:
            write_ahead = in_wal_mode(self.database)
        except OSError as exc:
            raise Precondition(f"{self.database} cannot be read ({exc.strerror}); see its permissions") from None
        if write_ahead:
            raise Precondition(f"{self.database} is in WAL mode, which 'prepare' never sets; {FRESH}")
        with contextlib.ExitStack() as unless_whole:
            try:
                db = readonly(self.database)
                unless_whole.callback(db.close)
                (fault,) = db.execute(WHOLE).fetchone()
                (strange,) = db.execute(STRANGE).fetchone()
            except sqlite3.Error as exc:
                raise Precondition(f"{self.database} cannot be read ({exc}); {FRESH}") from None
            if fault != "ok":
                raise Precondition(f"{self.database} is damaged ({excerpt(fault)}); {FRESH}")
            if strange:
                raise Precondition(f"{self.database} holds {strange} rows that 'prepare' would not write; {FRESH}")
            unless_whole.pop_all()
        return db
