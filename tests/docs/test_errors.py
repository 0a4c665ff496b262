"""docs/TROUBLESHOOTING.md explains what a line does not say itself, and shows no line that the program cannot print.

A message of this program has the form "what is wrong; what to do". One without the second half has to be on the page.
Run alone: python -m pytest tests/docs/test_errors.py
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
    "Ours",
    "Precondition",
    "ServerUnavailable",
    "SourceUnavailable",
    "TransportFailure",
    "ValueError",
    "kind",
}
# Functions that return the words which such a message is made of.
WORDS = {
    "src/server/failures.py": {"named"},
    "src/server/readiness.py": {"_state", "_health"},
}
# What tells a reader what to do: a second half, or the rule that a value broke.
REMEDY = re.compile(r"; |give a number|must be|name another|bytes free|not a number|comes after|is empty or")
SHORTEST = 8  # characters; a shorter part says nothing
PAGE = pages.DOCS / "TROUBLESHOOTING.md"
SHOWN_ON = [PAGE, *(page for page in pages.TRANSLATED if page.name.startswith("TROUBLESHOOTING"))]
SOURCES = [*sorted((pages.ROOT / "src").rglob("*.py")), *sorted((pages.ROOT / "scripts").glob("*.py"))]
SCRIPTS = sorted((pages.ROOT / "scripts").glob("*.sh"))


def text(node: ast.AST) -> str:
    """The text that an expression makes, with `…` for what varies."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else "…"
    if isinstance(node, ast.JoinedStr):
        return "".join(map(text, node.values))
    if isinstance(node, ast.Call) and node.args:  # of a failure made in a table
        return text(node.args[0])
    if isinstance(node, ast.BinOp):
        return text(node.left) + text(node.right)
    return "…"


def fixed(message: str) -> list[str]:
    """The parts of a message that never vary and are long enough to be looked for."""
    parts = (part.strip(" ;:,()'\"") for part in re.split(r"…|\d+|; ", " ".join(message.split())))
    return [part for part in parts if len(part) >= SHORTEST and " " in part]


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the text of each message that a module raises or makes."""
    name = str(path.relative_to(pages.ROOT))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            made = node.exc.func
            if isinstance(made, ast.Name) and made.id in RAISED and node.exc.args:
                yield node.lineno, text(node.exc.args[0])
        elif isinstance(node, ast.FunctionDef) and node.name in WORDS.get(name, ()):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Tuple) and len(inner.elts) == 2:
                    yield from ((inner.lineno, text(element)) for element in inner.elts)
                elif isinstance(inner, ast.Return) and isinstance(inner.value, ast.Call) and inner.value.args:
                    yield inner.lineno, text(inner.value.args[0])


def printable() -> str:
    """Every string of the program and its scripts, with `…` for what varies."""
    made = [path.read_text(encoding="utf-8") for path in SCRIPTS]
    for path in SOURCES:
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        made += [text(node) for node in nodes if isinstance(node, (ast.Constant, ast.JoinedStr))]
    return " ".join(" ".join(made).split())


def shown(page: Path) -> list[str]:
    """The lines in the first columns of a page's tables, as they are quoted there."""
    rows = re.findall(r"^\| (.+?) \| ", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [line for row in rows for line in re.findall(r"`([^`]+)`", row)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(pages.ROOT)))
def test_a_message_that_names_no_remedy_is_explained(path: Path) -> None:
    told = " ".join(PAGE.read_text(encoding="utf-8").split())
    silent = [
        (line, max(fixed(message), key=len, default=""))
        for line, message in messages(path)
        if not REMEDY.search(message)
    ]
    assert [f"{path.name}:{line}: {part}" for line, part in silent if part not in told] == []


def test_the_collection_finds_what_there_is() -> None:
    found = [message for path in SOURCES for _, message in messages(path)]
    assert len(found) > 100
    silent = [message for message in found if fixed(message) and not REMEDY.search(message)]
    assert len(silent) > 25
    for known in ("the host name is unknown", "Outil interdit ou appel mal formé"):
        assert any(known in message for message in silent), known


@pytest.mark.parametrize("page", SHOWN_ON, ids=lambda page: page.name)
def test_every_line_that_the_page_shows_is_one_that_the_program_can_print(page: Path) -> None:
    words = printable()
    lines = shown(page)
    assert len(lines) > 15
    assert [f"{line}: {part}" for line in lines for part in fixed(line) if part not in words] == []


def test_the_sample_lines_of_the_download_page_are_made_of_the_programs_words() -> None:
    # What makes them happen is in tests/fetch, which has a hub and an index that misbehave.
    samples = [
        line
        for block in console.blocks(pages.DOCS / "MODEL_ACQUISITION.md")
        if block.language == "text"
        for line in block.text.splitlines()
        if line.startswith("fetch_model") or ".gguf: " in line
    ]
    assert len(samples) >= 5
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES if path.parent.name == "weights"]
    strings = (
        text(node) for tree in trees for node in ast.walk(tree) if isinstance(node, (ast.Constant, ast.JoinedStr))
    )
    parts = {part for string in strings for part in fixed(string)}
    for line in samples:
        assert any(part in line for part in parts), line
