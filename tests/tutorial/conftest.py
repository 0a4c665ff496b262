"""The tutorial's own texts, where somebody has them: R3_SEEDS names their folder; nothing of them is kept here.

.ci/run sets it when they lie beside the project. Without them these tests are skipped, and say so.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

FOLDER = os.environ.get("R3_SEEDS", "")
FILES = {"es": "000_", "en": "001_", "vi": "002_"}


@dataclass(frozen=True)
class Text:
    """One language of the tutorial, and how its fragments are taken out."""

    language: str
    lines: list[str]

    @property
    def whole(self) -> str:
        """The text."""
        return "\n".join(self.lines)

    def function(self, name: str) -> str:
        """The listing of a function: from its `def` to the first line that stands at the margin again."""
        start = self.lines.index(next(line for line in self.lines if line.startswith(f"def {name}(")))
        end = next(n for n in range(start + 1, len(self.lines)) if self.lines[n] and self.lines[n][0] not in " )")
        return "\n".join(self.lines[start:end])

    def objects(self) -> list[str]:
        """The JSON objects printed over several lines."""
        return re.findall(r"^\{\n.*?^\}$", self.whole, re.MULTILINE | re.DOTALL)

    def commands(self) -> list[str]:
        """The lines to be typed, in order."""
        return [line for line in self.lines if re.match(r"(docker compose|\./scripts/|sh scripts/)", line)]

    def rows(self) -> list[list[str]]:
        """The rows of the tables, cell by cell, without back quotes."""
        return [[cell.strip().strip("`") for cell in line.split("\t")] for line in self.lines if "\t" in line]


def read(language: str) -> Text:
    """One language; a folder that is named and does not hold it is a failure, not a skip."""
    if not FOLDER:
        pytest.skip("R3_SEEDS does not name the folder of the tutorial's texts")
    (path,) = Path(FOLDER).glob(f"{FILES[language]}*.txt")
    return Text(language, path.read_text(encoding="utf-8").splitlines())


@pytest.fixture(params=list(FILES))
def text(request: pytest.FixtureRequest) -> Text:
    """The tutorial in each of its languages."""
    return read(request.param)
