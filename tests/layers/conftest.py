"""Fixtures of the suite that breaks the program on purpose, in copies of it."""

from typing import Any

from tests.support import tally
from tests.support.fixtures import prepared, project_unchanged

__all__ = ["prepared", "project_unchanged"]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    tally.report("layers", terminalreporter)
