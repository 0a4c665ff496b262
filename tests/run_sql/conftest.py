"""Fixtures: a Reservo file of its own for each test, and the figures printed at the end of a run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from src.run_sql.database import create
from src.run_sql.guard import Reservo, open_reservo
from tests.run_sql import harness
from tests.support import tally


@pytest.fixture
def reservo(tmp_path: Path) -> Path:
    """A new Reservo database."""
    return create(tmp_path / "reservo.db")


@pytest.fixture
def con(reservo: Path) -> Iterator[Reservo]:
    """A guarded connection to it."""
    con = open_reservo(reservo)
    yield con
    con.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was counted and measured."""
    tally.report("run_sql", terminalreporter)
    for measure, (value, name) in sorted(harness.LARGEST.items()):
        terminalreporter.write_line(f"  {value:>7.2f}  largest {measure} ({name})")
