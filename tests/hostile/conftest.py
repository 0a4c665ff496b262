"""Fixtures of the suite about hostile questions."""

from typing import Any

from tests.support import tally
from tests.support.fixtures import prepared, project_unchanged, shop

__all__ = ["prepared", "project_unchanged", "shop"]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    tally.report("hostile", terminalreporter)
