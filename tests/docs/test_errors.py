"""docs/TROUBLESHOOTING.md has every line that the program can end with, found in the code itself.

For each message the longest of its fixed parts is looked for. Run alone: python -m pytest tests/docs/test_errors.py
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs import pages
from tests.support import console

RAISED = {
    "BadReply",
    "CheckFailed",
    "Interrupted",
    "KeyboardInterrupt",
    "Precondition",
    "ServerUnavailable",
    "SourceUnavailable",
    "TransportFailure",
    "ValueError",
    "kind",
}
# Functions that return the words which such a message is made of.
WORDS = {
    "src/server/client.py": {"_failure"},
    "src/server/readiness.py": {"_state"},
    "src/weights/models.py": {"problem"},
}
SHORTEST = 8  # characters; a shorter part says nothing
PAGE = pages.DOCS / "TROUBLESHOOTING.md"


def fixed_parts(node: ast.AST) -> Iterator[str]:
    """The fixed parts of the text that an expression makes."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the longest fixed part of each message that a module raises or makes."""
    name = str(path.relative_to(pages.ROOT))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        found: list[ast.expr] = []
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            made = node.exc.func
            if isinstance(made, ast.Name) and made.id in RAISED:
                found = node.exc.args[:1]
        elif isinstance(node, ast.FunctionDef) and node.name in WORDS.get(name, ()):
            returned = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return) and inner.value]
            listed = [inner for inner in ast.walk(node) if isinstance(inner, ast.Tuple) and len(inner.elts) == 2]
            found = [*returned, *(inner.elts[1] for inner in listed)]
        for expression in found:
            longest = max(fixed_parts(expression), key=len, default="").strip(" ;:,()'\"")
            if len(longest) >= SHORTEST and " " in longest:
                yield node.lineno, longest


def shell_messages(path: Path) -> Iterator[tuple[int, str]]:
    """The same for the `fail` lines of a shell script."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    for number, line in enumerate(text.splitlines(), 1):
        for call in re.findall(r"(?:^|\|\| |then |; |\) )\s*fail (.*)", line):
            parts = re.split(r'\$\(.*?\)|\$\{[^}]*\}|\$\w+|"|\\', call)
            longest = max(parts, key=len).strip(" ;:,()'\"")
            if len(longest) >= SHORTEST:
                yield number, longest


SOURCES = [*sorted((pages.ROOT / "src").rglob("*.py")), pages.ROOT / "scripts" / "fetch_model.py"]
SCRIPTS = sorted((pages.ROOT / "scripts").glob("*.sh"))


@pytest.mark.parametrize("path", SOURCES + SCRIPTS, ids=lambda path: str(path.relative_to(pages.ROOT)))
def test_every_message_of_the_file_is_explained(path: Path) -> None:
    told = " ".join(PAGE.read_text(encoding="utf-8").split())
    collect = shell_messages if path.suffix == ".sh" else messages
    missing = [f"{path.name}:{line}: {part}" for line, part in collect(path) if " ".join(part.split()) not in told]
    assert missing == []


def test_the_collection_finds_what_there_is() -> None:
    found = [part for path in SOURCES for _, part in messages(path)]
    assert len(found) > 60
    for known in ("exists and is never overwritten", "the host name is unknown", "Outil interdit ou appel mal formé"):
        assert any(known in part for part in found), known


def test_the_sample_lines_of_the_download_page_are_made_of_the_programs_words() -> None:
    # What makes them happen is in tests/fetch, which has a hub and an index that misbehave.
    sources = [pages.ROOT / "scripts" / "fetch_model.py", *(pages.ROOT / "src" / "weights").glob("*.py")]
    trees = [
        ast.parse(path.read_text(encoding="utf-8")) for path in [*sources, pages.ROOT / "src" / "weights" / "models.py"]
    ]
    words = {part.strip(" ;:,()") for tree in trees for part in fixed_parts(tree) if " " in part.strip()}
    words = {part for part in words if len(part) >= SHORTEST and "\n" not in part}
    samples = [
        line
        for block in console.blocks(pages.DOCS / "MODEL_ACQUISITION.md")
        if block.language == "text"
        for line in block.text.splitlines()
        if line.startswith("fetch_model") or ".gguf: " in line
    ]
    assert len(samples) >= 8
    for line in samples:
        assert any(part in line for part in words), line
