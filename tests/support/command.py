"""The project's commands as a user types them, and the one line that a failure ends with."""

from pathlib import Path

from tests.support.inprocess import Ended
from tests.support.project import ROOT, environment, run, snapshot

__all__ = ["ROOT", "Ended", "assert_one_line", "cli", "environment", "snapshot"]


def cli(*words: str | Path, cwd: Path = ROOT, **env: str) -> Ended:
    """Run `python -m src.cli` with these words; in a copy of the project, that copy's."""
    return run(*words, root=cwd, env=environment(**env))


def assert_one_line(ended: Ended, status: int, *parts: str) -> None:
    """Assert the status, and exactly one line that says why on stderr, which holds each of `parts` and is the last."""
    assert ended.status == status, ended
    assert ended.line.count("\n") == 1 and ended.line.endswith("\n"), ended.err
    assert "Traceback" not in ended.err
    for part in parts:
        assert part in ended.line, (part, ended.err)
