"""The lesson and the stock assistant do not reach each other, and the lesson runs on the standard library alone.

Run alone: python -m pytest tests/run_sql/test_isolation.py
"""

import ast
import subprocess
import sys
from pathlib import Path

from tests.run_sql.harness import ROOT

COMMANDS = [["demo"], ["exercises"], ["query", "SELECT 1"], ["describe", "--format", "mcp"]]
BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in sys.stdlib_module_names | {"src"}:
            raise ImportError(f"{name} is not of the standard library")
sys.meta_path.insert(0, Blocked())
from src.run_sql.cli import main
sys.exit(main(sys.argv[1:]))
"""


def imported(path: Path) -> set[str]:
    """Return the modules that a file names in its import statements."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_nothing_outside_of_the_package_imports_it() -> None:
    others = [path for path in (ROOT / "src").rglob("*.py") if "run_sql" not in path.parts]
    assert others
    for path in others:
        assert not {name for name in imported(path) if name.startswith("src.run_sql")}, path
        assert "run_sql" not in path.read_text(encoding="utf-8"), path


def test_all_commands_but_ask_run_without_any_installed_package(reservo: Path) -> None:
    for command in COMMANDS:
        place = [] if command[0] == "describe" else ["--db", str(reservo)]
        done = subprocess.run(
            [sys.executable, "-c", BLOCKED, *command, *place], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), command
        assert done.stdout
