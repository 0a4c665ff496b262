"""Every remedy that the program prints helps, in the state in which it is printed.

The rows are in `remedies.py`. Run alone with: python -m pytest tests/faults/test_remedies.py
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from src import evaluate
from src.base import shell
from src.base.errors import Precondition
from src.weights import fetch, models
from tests.docs import test_errors
from tests.faults import remedies
from tests.faults.remedies import PASTE, Row, World
from tests.support.depth import spread
from tests.support.faulty_server import Request, Step, serving
from tests.support.inprocess import Ended
from tests.support.project import ROOT, Shop, environment, run

COMMAND = re.compile(r": ((?:[A-Z0-9_]+=\S+ )*\S*(?:python[\d.]* (?:-m |\S*scripts/)).*)$")


def pasted(line: str, shop: Shop) -> None:
    """Run the command that the line ends with, as a shell takes it."""
    found = COMMAND.search(line.rstrip("\n").partition("; ")[2])
    assert found, line
    done = subprocess.run(
        ["bash", "-c", found[1]], cwd=ROOT, env=shop.environment(), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, (found[1], done.stdout[-500:], done.stderr[-500:])


def ended(world: World, row: Row) -> Ended:
    """Run the command of a row."""
    if row.program == "src.cli":
        return world.shop.run(*world.words)
    return run("--outputs", world.out, *world.words, program=row.program, env=world.shop.environment())


@pytest.mark.parametrize(
    "row", spread(remedies.ROWS, 16), ids=lambda row: f"{row.remedy.strip(' :;')[:40]} <- {row.cause}"
)
def test_what_the_line_says_helps_against_this_cause(
    row: Row, tmp_path: Path, prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "the shop's $(folder)"
    folder.mkdir()
    shutil.copy(prepared, folder / "stock.db")
    world = World(Shop(folder), patch=monkeypatch)

    def plan(request: Request) -> Sequence[Step] | None:
        if world.plan is not None:
            return world.plan(request)
        return row.plan(request) if row.plan and world.broken else None

    with serving(plan) as server:
        world.shop.url = server.url
        row.state(world)
        done = ended(world, row)
        assert done.status == row.status and row.remedy in done.line, done
        if isinstance(row.mend, str):
            assert row.mend == PASTE
            world.broken = False
            pasted(done.line, world.shop)
        else:
            row.mend(world)
        if row.again:
            world.broken = world.broken and row.plan is None
            done = ended(world, row)
            assert done.status == 0, done


def printed() -> dict[str, str]:
    """Every part of a remedy that never varies, and where the program has it."""
    found: dict[str, str] = {}
    for path in test_errors.SOURCES:
        name = str(path.relative_to(ROOT))
        for line, message in test_errors.messages(path):
            for part in test_errors.fixed(message.partition("; ")[2]):
                found.setdefault(part, f"{name}:{line}")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign) and {ast.unparse(target) for target in node.targets} & remedies.CONSTANTS:
                values = node.value.values if isinstance(node.value, ast.Dict) else [node.value]
                for value in (value for value in values if not isinstance(value, ast.Call)):
                    for part in test_errors.fixed(test_errors.text(value)):
                        found.setdefault(part, f"{name}:{node.lineno}")
    return found


def test_no_remedy_of_the_program_is_missing_from_the_table() -> None:
    known = [row.remedy.strip() for row in remedies.ROWS] + list(remedies.ELSEWHERE)
    parts = printed()
    assert len(parts) > 100
    missing = {part: where for part, where in parts.items() if not any(part in have or have in part for have in known)}
    assert missing == {}


@pytest.mark.parametrize("remedy", remedies.ELSEWHERE)
def test_a_remedy_of_another_suite_is_known_there(remedy: str) -> None:
    file, words = remedies.ELSEWHERE[remedy]
    assert words in (ROOT / file).read_text(encoding="utf-8").replace("\\", ""), f"{words!r} in {file}"


WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: None, "is missing; fetch it with: "),
    "another size": (lambda path: path.write_text("x"), "expected 98362432; move it away, then fetch it with: "),
    "a dangling link": (lambda path: path.symlink_to("nowhere"), "not there; move it away, then fetch it with: "),
    "a folder": (lambda path: path.mkdir(), "not a regular file .*; move it away, then fetch it with: "),
}


@pytest.mark.parametrize("cause", WRONG)
def test_a_model_file_that_is_wrong_is_moved_away_before_it_is_fetched(cause: str, tmp_path: Path) -> None:
    make, says = WRONG[cause]
    model = models.load("embedded")
    make(tmp_path / model.files[0].name)
    with pytest.raises(Precondition, match=says) as raised:
        models.checked(model, tmp_path)
    if cause != "missing":  # the downloader does not touch it either
        with pytest.raises(Precondition, match="left as it is: move it away"):
            fetch.missing(model, tmp_path)
    command = COMMAND.search(str(raised.value))
    assert command
    if os.path.lexists(tmp_path / model.files[0].name):
        (tmp_path / model.files[0].name).rename(tmp_path / "away")
    if (models.MODELS / model.files[0].name).is_file():  # fetching is the download suite's: here it is already there
        done = subprocess.run(["bash", "-c", command[1]], cwd=ROOT, env=environment(), capture_output=True)
        assert done.returncode == 0, done.stderr


PACKAGE = [
    (True, "/usr", "/usr", "activate the project's environment: . "),
    (True, "HERE", "/usr", "install it with: .*python -m pip install --require-hashes -r configs/embedded.lock$"),
    (False, "/usr", "/usr", "sh scripts/quickstart.sh makes an environment that has it$"),
    (False, "/other", "/usr", "install it with: .*python -m pip install --require-hashes -r configs/embedded.lock$"),
]


@pytest.mark.parametrize(("made", "prefix", "base", "says"), PACKAGE)
def test_a_missing_package_is_answered_by_where_this_python_is(
    made: bool, prefix: str, base: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shell, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "prefix", prefix.replace("HERE", str(tmp_path / ".venv")))
    monkeypatch.setattr(sys, "base_prefix", base)
    if made:
        (tmp_path / ".venv" / "bin").mkdir(parents=True)
        (tmp_path / ".venv" / "bin" / "activate").touch()
    assert re.search(says, shell.package("embedded.lock"))


def test_a_run_without_results_is_not_measured() -> None:
    with pytest.raises(Precondition, match="run the agent first"):
        evaluate.evaluate([], [])
