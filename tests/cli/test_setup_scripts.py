"""`quickstart.sh` and `test.sh` where they cannot work: one line that says why and what to do, and nothing half-made.

That `quickstart.sh` works is shown by `tests/embedded`. Run alone: python -m pytest tests/cli/test_setup_scripts.py
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import ROOT, Ended, environment

SCRIPTS = ["quickstart.sh", "test.sh"]
PASSES, FAILS = "def test_it() -> None:\n    assert True\n", "def test_it() -> None:\n    assert False\n"
TINY_MIB = 8  # room for the project, not for its packages
NOWHERE = "http://127.0.0.1:9/simple"  # loopback, and nobody listens


def project(folder: Path) -> Path:
    """A copy of what the scripts need, without an environment and without a model."""
    for name in ("src", "data", "configs", "scripts"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "test_gate.py", folder / "tests")
    return folder


def sh(folder: Path, script: str, **env: str) -> Ended:
    """Run one of the scripts in `folder`."""
    done = subprocess.run(
        ["sh", f"scripts/{script}"], cwd=folder, env=environment(**env), capture_output=True, text=True, timeout=120
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


@pytest.mark.parametrize("script", SCRIPTS)
def test_packages_that_cannot_be_had_are_one_line_and_the_next_run_tries_again(script: str, tmp_path: Path) -> None:
    folder = project(tmp_path / "copy")
    nothing = {"PIP_INDEX_URL": NOWHERE, "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}
    for _ in range(2):
        ended = sh(folder, script, PYTHON=sys.executable, PIP_EXTRA_INDEX_URL="", **nothing)
        last_line(ended, "could not be installed", "check the network", ".venv/pip.log")
        assert not list((folder / ".venv").glob("*.done"))


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system with no room for the packages."""
    place = tmp_path / "tiny"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={TINY_MIB}m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a small file system can only be mounted by root")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_full_disk_is_named_before_anything_is_made(script: str, tiny: Path) -> None:
    folder = project(tiny / "copy")
    last_line(sh(folder, script, PYTHON=sys.executable), "MiB free", "free some space")
    assert not (folder / ".venv").exists()


def ready(folder: Path) -> Path:
    """A project where test.sh finds all made: an environment that is this one, the model, and a tiny suite a folder."""
    project(folder)
    (folder / ".venv" / "bin").mkdir(parents=True)
    python = folder / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    shutil.copy(ROOT / "configs" / "dev.lock", folder / ".venv" / "dev.lock.done")
    (folder / "models").symlink_to(ROOT / "models")
    for test in (ROOT / "tests").glob("test_*.py"):
        shutil.copy(test, folder / "tests")
    for suite in ("cli", "embedded", "docs", "hostile", "layers", "properties"):
        (folder / "tests" / suite).mkdir()
        (folder / "tests" / suite / f"test_{suite}.py").write_text(PASSES)
    return folder


def test_when_all_tests_pass_the_status_says_so(tmp_path: Path) -> None:
    ended = sh(ready(tmp_path / "copy"), "test.sh")
    assert ended.status == 0, ended
    assert "Ran 14 tests" in ended.err
    assert "15 passed" in ended.out and "5 passed" in ended.out, ended.out  # the 14 and tests/cli; the other five


@pytest.mark.parametrize("suite", ["cli", "docs"])  # one of each half
def test_one_red_test_in_either_half_is_the_status(suite: str, tmp_path: Path) -> None:
    folder = ready(tmp_path / "copy")
    (folder / "tests" / suite / "test_red.py").write_text(FAILS)
    ended = sh(folder, "test.sh")
    last_line(ended, "a suite failed")
    assert "1 failed" in ended.out
