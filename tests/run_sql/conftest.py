"""Fixtures: a Reservo file of its own for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from src.run_sql.database import create
from src.run_sql.guard import Reservo, open_reservo


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
