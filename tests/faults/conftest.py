"""Fixtures of the suite that puts a broken server behind the command line."""

from typing import Any

from tests.support import tally
from tests.support.fixtures import prepared, project_unchanged, shop, whole_run

__all__ = ["prepared", "project_unchanged", "shop", "whole_run"]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    tally.report("faults", terminalreporter)
