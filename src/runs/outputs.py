"""Which file each command writes, and the command to run next for a folder of results."""

from pathlib import Path
from typing import NamedTuple

from src.base.paths import OUTPUTS, results_folder
from src.base.printable import quoted


class Outputs(NamedTuple):
    """The folder that receives results, `outputs/` unless `--outputs` or R3_OUTPUTS says otherwise."""

    folder: Path

    @classmethod
    def named(cls, folder: Path | None) -> "Outputs":
        """The folder given, else the one of R3_OUTPUTS, else the project's own."""
        return cls(results_folder(folder))

    def command(self, words: str) -> str:
        """The command to run next for this folder, as the remedy of an error names it."""
        named = "" if self.folder == OUTPUTS else f"--outputs {quoted(str(self.folder))} "
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
