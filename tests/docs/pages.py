"""The project's documents, the marks of their blocks, and a copy of the project to run them in."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from src.base.messages import LANGUAGES
from src.base.records import Language
from tests.support import console
from tests.support.command import ROOT as ROOT
from tests.support.command import environment

README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [README, *sorted(DOCS.glob("*.md"))]
TRANSLATED = [page for page in PAGES if page.suffixes[:-1] in ([".es"], [".vi"])]
RUNNABLE = ("console", "sh")

# Blocks that this suite does not run, by their mark: who runs them instead, or why nobody can here.
ELSEWHERE = {
    "run: alone": "quickstart.sh and test.sh: tests/embedded runs the one, and the other runs this suite",
    "run: engine": "needs a container engine: .ci/containers.sh",
    "commands: cpu": "needs a container engine: .ci/containers.sh runs it line by line",
    "commands: exercise": "needs a container engine: .ci/containers.sh runs it in one shell",
    "commands: swarm": "needs two container engines: .ci/swarm.sh runs it",
    "commands: gpu": "needs an NVIDIA card and 4.7 GB of weights: nobody runs it here, and the page says so",
}
OWN_SUITE = dict.fromkeys(
    ("RUN_SQL.md", "RUN_SQL.es.md"), "tests/run_sql/test_docs.py"
)  # pages with a runner of their own


def runnable(path: Path) -> list[console.Block]:
    """The blocks of a page that this suite runs, in order."""
    return [
        block
        for block in console.blocks(path)
        if block.language in RUNNABLE and block.mark not in ELSEWHERE and not block.mark.startswith("not run: ")
    ]


def project_copy(folder: Path) -> Path:
    """A copy of the committed project as a reader's clone has it, after quickstart.sh: with .venv and the model."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    copy = folder / "project"
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    shutil.rmtree(copy / "models")
    (copy / "models").symlink_to(ROOT / "models")
    (copy / ".venv").symlink_to(sys.prefix)
    return copy


def shell_environment() -> dict[str, str]:
    """The machine's environment, and the interpreter of this test run as `python`."""
    return environment(PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="")


def english(page: Path) -> Path:
    """The page that a translated one is a translation of."""
    stem = page.name.split(".")[0]
    return README if stem == "README" else DOCS / f"{stem}.md"


def language(page: Path) -> Language:
    """The language of a page, by its name."""
    return next((each for each in LANGUAGES if page.suffixes[0] == f".{each}"), "en")


def same_in_every_language(command: str) -> str:
    """A command with its language and the data file's questions taken out: what a page shares with its translations."""
    text = re.sub(r" (--lang |R3_LANG=)(en|es|vi|fr)\b", "", command)
    for query in json.loads((ROOT / "data" / "products.json").read_text(encoding="utf-8"))["queries"]:
        for field in ("query", "es", "vi", "fr"):
            text = text.replace(f'"{query[field]}"', f'"question {query["id"]}"')
    # A page's own questions are in its language: those of `ask`, and those of a file.
    text = re.sub(r'\bask "(?!question \d)[^"]*"', 'ask "a question"', text)
    return re.sub(r"^printf .* (?=> questions\.csv)", "printf questions ", text)
