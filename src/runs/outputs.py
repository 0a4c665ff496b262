"""Which file each command writes, and the command to run next for a folder of results."""

import os
from pathlib import Path
from typing import NamedTuple

from src.base import shell
from src.base.paths import OUTPUTS, results_folder

ASKING = ("agent", "ask", "reproduce")  # the commands that need a model server


class Outputs(NamedTuple):
    """The folder that receives results, `outputs/` unless `--outputs` or R3_OUTPUTS says otherwise."""

    folder: Path
    embedded: bool = False  # whether its commands are asked to start the embedded server

    @classmethod
    def named(cls, folder: Path | None, embedded: bool = False) -> "Outputs":
        """The folder given, else the one of R3_OUTPUTS, else the project's own."""
        return cls(results_folder(folder), embedded or os.environ.get("R3_EMBEDDED") == "1")

    def command(self, *words: str) -> str:
        """The command to run next for this folder, as the remedy of an error names it; whole, to be pasted."""
        asks = words[0] in ASKING
        embedded = ["--embedded"] if asks and self.embedded else []
        named = [] if self.folder == OUTPUTS else ["--outputs", str(self.folder)]
        return shell.command("-m", "src.cli", *embedded, *named, *words, asks_server=asks and not self.embedded)

    @property
    def database(self) -> Path:
        return self.folder / "stock.db"

    @property
    def shop(self) -> Path:
        """The data file made of a reader's own products and questions, where `prepare` was given such."""
        return self.folder / "shop.json"

    def json(self, command: str) -> Path:
        """The result file of a command, e.g. `agent.json`."""
        return self.folder / f"{command}.json"

    @property
    def journal(self) -> Path:
        return self.folder / "agent.journal.jsonl"
