"""Run the project's commands as a user does: a subprocess, its status, its two streams, the files it leaves."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIMIT_S = 120  # a hang becomes a failure


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str


def environment(**values: str) -> dict[str, str]:
    """The machine's environment without this project's variables, plus `values`."""
    ours = ("LLM_", "R3_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | values


def cli(*words: str | Path, cwd: Path = ROOT, limit_s: float = LIMIT_S, **env: str) -> Ended:
    """Run `python -m src.cli` with these words."""
    done = subprocess.run(
        [sys.executable, "-m", "src.cli", *map(str, words)],
        cwd=cwd,
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=limit_s,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def assert_one_line(ended: Ended, status: int, *parts: str) -> None:
    """Assert the status, and exactly one line on stderr that holds each of `parts` and is no traceback."""
    assert ended.status == status, ended
    assert ended.err.count("\n") == 1 and ended.err.endswith("\n"), ended.err
    assert "Traceback" not in ended.err
    for part in parts:
        assert part in ended.err, (part, ended.err)


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below `folder` with its bytes, to show that nothing was touched."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def copied_project(folder: Path) -> Path:
    """A copy of what the commands need, without models and results, to change or break."""
    copy = folder / "copy"
    for name in ("src", "data", "configs"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    return copy
