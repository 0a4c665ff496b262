"""Fixtures: a Reservo file of its own for each test, and one connection for all that only ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from src.run_sql.database import create
from src.run_sql.guard import Reservo, open_reservo
from tests.run_sql import harness


@pytest.fixture
def reservo(tmp_path: Path) -> Path:
    """A new Reservo database."""
    return create(tmp_path / "reservo.db")


@pytest.fixture(scope="session")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reservo]:
    """A connection to one, for tests that only ask: no call leaves anything behind for the next."""
    con = open_reservo(create(tmp_path_factory.mktemp("asked") / "reservo.db"))
    yield con
    con.close()


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Reservo]]:
    """The path of a Reservo with things to steal in it and beside it, and a connection to it, shared as above."""
    path = harness.lay_out(tmp_path_factory.mktemp("hostile"))
    con = open_reservo(path)
    yield path, con
    con.close()
