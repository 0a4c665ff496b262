"""Which file each command writes, and the database opened with a clear word when it is not there."""

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from src.errors import Precondition
from src.paths import ROOT, near
from src.tools import readonly

DEFAULT = near(ROOT / "outputs")


@dataclass(frozen=True)
class Outputs:
    """The folder that receives results, `outputs/` unless `--outputs` or R3_OUTPUTS says otherwise."""

    folder: Path

    @classmethod
    def named(cls, folder: Path | None) -> "Outputs":
        """The folder given, else the one of R3_OUTPUTS, else the project's own."""
        return cls(folder or Path(os.environ.get("R3_OUTPUTS") or DEFAULT))

    def command(self, words: str) -> str:
        """The command line that goes on in this folder, for the remedy of an error."""
        return f"python -m src.cli {'' if self.folder == DEFAULT else f'--outputs {self.folder} '}{words}"

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
        if not self.database.exists():
            raise Precondition(f"{self.database} is missing; build it with: {self.command('prepare')}")
        try:
            db = readonly(self.database)
            db.execute("SELECT ref,name,stock FROM products LIMIT 1").fetchone()
        except sqlite3.Error as exc:
            raise Precondition(f"{self.database} cannot be read ({exc}); start from a fresh copy") from None
        return db
