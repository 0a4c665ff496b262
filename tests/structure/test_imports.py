"""The picture of the rooms stays true: who may import whom in `src/`; run alone: `pytest tests/structure`.

Read from the code's own import statements, those inside functions and under TYPE_CHECKING included.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"

# Each room of `src/` and the rooms that it may import, from the top floor down; a room may name only those below it.
MAY_IMPORT = {
    "cli": {"commands", "base"},
    "run_sql": {"agent", "server", "tools", "base"},
    "going_further": {"runs", "agent", "server", "tools", "base"},
    "commands": {"report", "evaluate", "measures", "runs", "agent", "server", "wording", "tools", "base"},
    "report": {"measures", "runs", "wording", "base"},
    "evaluate": {"measures", "runs", "wording", "tools", "base"},
    "measures": {"runs", "wording", "tools", "base"},
    "runs": {"agent", "server", "weights", "wording", "tools", "base"},
    "agent": {"server", "tools", "base"},
    "server": {"weights", "base"},
    "weights": {"base"},
    "wording": {"tools", "base"},
    "tools": {"base"},
    "base": set(),
}
MOST_ROOMS, MOST_ARROWS = 18, 60


def room_of(path: Path) -> str:
    """The package or top-level module that a file of `src/` belongs to; empty for `src/__init__.py`."""
    first = path.relative_to(SRC).parts[0]
    return "" if first == "__init__.py" else first.removesuffix(".py")


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules of `src` that a tree imports, as `src.runs.store`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "src":
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.split(".")[0] == "src")


def arrows() -> set[tuple[str, str]]:
    """Every import from one room to another."""
    found = set()
    for path in SRC.rglob("*.py"):
        for name in imported(ast.parse(path.read_text(encoding="utf-8"))):
            target = name.split(".")[1]
            if target in MAY_IMPORT:
                found.add((room_of(path), target))
    return {(room, target) for room, target in found if room and room != target}


def test_a_room_imports_only_the_rooms_below_it_that_the_table_names() -> None:
    order = list(MAY_IMPORT)
    for room, below in MAY_IMPORT.items():
        assert all(order.index(target) > order.index(room) for target in below), f"{room} names a room above it"
    allowed = {(room, target) for room, below in MAY_IMPORT.items() for target in below}
    assert arrows() - allowed == set(), "imports that the table does not allow"


def test_every_file_of_src_lies_in_a_room_of_the_table() -> None:
    rooms = {room_of(path) for path in SRC.rglob("*.py")} - {""}
    assert rooms == set(MAY_IMPORT)
    assert len(rooms) <= MOST_ROOMS and len(arrows()) <= MOST_ARROWS


def test_every_package_says_in_its_own_words_what_lives_there_and_what_does_not() -> None:
    packages = [path.parent for path in SRC.rglob("__init__.py") if path.parent != SRC]
    assert len(packages) >= 9
    for package in packages:
        said = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
        assert said.count(".") >= 2, package.name


def test_the_gate_needs_nothing_but_the_standard_library_at_run_time() -> None:
    tree = ast.parse((SRC / "tools.py").read_text(encoding="utf-8"))
    tree.body = [
        node for node in tree.body if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    named = {
        module.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for module in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [n.name for n in node.names])
    }
    assert named <= sys.stdlib_module_names


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("from src.runs import store", {"src.runs.store"}),
        ("def f():\n    import src.cli", {"src.cli"}),
        ("from src import agent, tools", {"src.agent", "src.tools"}),
    ],
)
def test_an_import_is_seen_wherever_it_stands(text: str, named: set[str]) -> None:
    assert set(imported(ast.parse(text))) == named
