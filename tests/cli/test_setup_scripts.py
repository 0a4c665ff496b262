"""`quickstart.sh` and `test.sh` where they cannot work: one line that says why and what to do, and nothing half-made.

That `quickstart.sh` works is shown by `tests/embedded`. Run alone: python -m pytest tests/cli/test_setup_scripts.py
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import forked
from tests.support.command import ROOT, Ended, environment

SCRIPTS = ["quickstart.sh", "test.sh"]
TINY = """
import pytest

def test_one() -> None: ...
def test_two() -> None: ...

@pytest.mark.model
def test_three() -> None: ...

@pytest.mark.slow
def test_four() -> None: ...
"""
LONG = """
import pathlib, subprocess
import pytest

@pytest.mark.parametrize("place", range(2))
def test_long(place: int) -> None:
    child = subprocess.Popen(["sleep", "300"])
    try:
        pathlib.Path(f"{path}-{{place}}.{{child.pid}}").touch()
        child.wait()
    finally:
        child.kill()
"""
TINY_MIB = 8  # room for the project, not for its packages
NOWHERE = "http://127.0.0.1:9/simple"  # loopback, and nobody listens


def project(folder: Path) -> Path:
    """A copy of what the scripts need, without an environment and without a model."""
    for name in ("src", "data", "configs", "scripts"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "test_gate.py", folder / "tests")
    return folder


def sh(folder: Path, script: str, *words: str, **env: str) -> Ended:
    """Run one of the scripts in `folder`."""
    done = subprocess.run(
        ["sh", f"scripts/{script}", *words],
        cwd=folder,
        env=environment(PYTEST_XDIST_AUTO_NUM_WORKERS="2", **env),
        capture_output=True,
        text=True,
        timeout=120,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def last_line(ended: Ended, *parts: str) -> None:
    """Assert status 2 and that the last line on stderr holds each of `parts`."""
    assert ended.status == 2, ended
    assert "Traceback" not in ended.err
    for part in parts:
        assert part in ended.err.splitlines()[-1], ended.err


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_old_python_is_named_with_the_way_to_give_another(script: str, tmp_path: Path) -> None:
    old = tmp_path / "python3.9"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit\nexit 1\n')
    old.chmod(0o755)
    folder = project(tmp_path / "copy")
    ended = sh(folder, script, PYTHON=str(old))
    last_line(ended, "Python 3.11 or newer is needed, found Python 3.9.2", "PYTHON=")
    assert not (folder / ".venv").exists()


def test_a_machine_without_python_is_told_so(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "dirname", "basename"):
        (tools / name).symlink_to(shutil.which(name) or "")
    ended = sh(project(tmp_path / "copy"), "quickstart.sh", PATH=str(tools))
    last_line(ended, "Python 3.11 or newer is needed, found no Python")


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_packages_that_cannot_be_had_are_one_line_and_the_next_run_tries_again(script: str, tmp_path: Path) -> None:
    folder = project(tmp_path / "copy")
    nothing = {"PIP_INDEX_URL": NOWHERE, "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}
    for _ in range(2):
        ended = sh(folder, script, PYTHON=sys.executable, PIP_EXTRA_INDEX_URL="", **nothing)
        last_line(ended, "could not be installed", "check the network", ".venv/pip.log")
        assert not list((folder / ".venv").glob("*.done"))
    environments_python_finds_the_project_from_anywhere(folder, tmp_path)


def environments_python_finds_the_project_from_anywhere(folder: Path, elsewhere: Path) -> None:
    """Also where PYTHONSAFEPATH hides the current folder."""
    for cwd in (folder, elsewhere):
        done = subprocess.run(
            [folder / ".venv" / "bin" / "python", "-m", "src.cli", "--outputs", cwd / "made", "prepare"],
            cwd=cwd,
            env=environment(PYTHONSAFEPATH="1"),
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system with no room for the packages."""
    place = tmp_path / "tiny"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={TINY_MIB}m", "tmpfs", str(place)]
    try:
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
            pytest.skip("a small file system can only be mounted by root")
        yield place
    finally:
        if place.is_mount():
            subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_full_disk_is_named_before_anything_is_made(script: str, tiny: Path) -> None:
    folder = project(tiny / "copy")
    last_line(sh(folder, script, PYTHON=sys.executable), "MiB free", "free some space")
    assert not (folder / ".venv").exists()


def ready(folder: Path) -> Path:
    """A project where test.sh finds all made: an environment that is this one, the model, and a tiny suite."""
    project(folder)
    (folder / ".venv" / "bin").mkdir(parents=True)
    python = folder / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    shutil.copy(ROOT / "configs" / "dev.lock", folder / ".venv" / "dev.lock.done")
    (folder / "models").symlink_to(ROOT / "models")
    for test in [*(ROOT / "tests").glob("test_*.py"), ROOT / "tests" / "conftest.py", ROOT / "pyproject.toml"]:
        shutil.copy(test, folder / test.relative_to(ROOT).parent)
    shutil.copytree(ROOT / "tests" / "support", folder / "tests" / "support", ignore=shutil.ignore_patterns("test_*"))
    (folder / "tests" / "tiny").mkdir()
    (folder / "tests" / "tiny" / "test_tiny.py").write_text(TINY)
    return folder


@pytest.mark.slow
def test_the_quick_depth_says_at_its_end_what_it_left_out_and_all_leaves_nothing_out(tmp_path: Path) -> None:
    folder = ready(tmp_path / "copy")
    quick = sh(folder, "test.sh")
    assert quick.status == 0, quick
    assert "Ran 14 tests" in quick.err
    left_out = "run: 16 quick tests; not run: 2 deeper (model 1, slow 1): sh scripts/test.sh --all"
    assert quick.out.splitlines()[-1] == left_out
    assert re.search(r"^tests/tiny +[0-9.]+ s  2 passed$", quick.out, re.MULTILINE), quick.out
    whole = sh(folder, "test.sh", "--all", "--numprocesses=0", "tests/tiny")  # what follows is pytest's
    assert whole.status == 0
    assert whole.out.splitlines()[-1] == "run: 2 quick tests and 2 deeper (model 1, slow 1)"
    assert re.search(r"^tests/tiny +[0-9.]+ s  4 passed$", whole.out, re.MULTILINE), whole.out


@pytest.mark.slow
def test_a_red_test_is_shown_with_its_reason_before_the_suite_is_through_and_is_the_status(tmp_path: Path) -> None:
    folder = ready(tmp_path / "copy")
    (folder / "tests" / "tiny" / "test_red.py").write_text("def test_red() -> None:\n    assert 1 == 2\n")
    ended = sh(folder, "test.sh", "--numprocesses=0", "tests/tiny")
    assert ended.status == 1, ended
    failure, line = ended.out.index("FAILED tests/tiny/test_red.py::test_red"), ended.out.index("1 failed, 2 passed")
    assert failure < ended.out.index("assert 1 == 2") < line
    assert ended.out.count("assert 1 == 2\n") == 3  # its line, its reason, the summary: not a second time whole


def test_ctrl_c_ends_the_run_and_all_that_its_tests_started(tmp_path: Path) -> None:
    folder, started = ready(tmp_path / "copy"), tmp_path / "started"
    (folder / "tests" / "tiny" / "test_long.py").write_text(LONG.format(path=str(started)))
    program = subprocess.Popen(
        ["sh", "scripts/test.sh", "tests/tiny/test_long.py"],
        cwd=folder,
        env=environment(PYTEST_XDIST_AUTO_NUM_WORKERS="2"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while len(list(tmp_path.glob("started-*"))) < 2:
            assert program.poll() is None
            time.sleep(0.05)
        os.killpg(program.pid, signal.SIGINT)
        assert program.wait(60) == 2  # pytest's status for an interruption
        left = [path for path in tmp_path.glob("started-*") if forked.alive(int(path.suffix[1:]))]
        assert left == []
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
