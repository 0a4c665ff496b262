"""Fixtures shared by the folders of the robustness suites: a prepared shop, and the project watched for changes."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from src import tools
from src.runs import catalog
from tests.support.faulty_server import serving
from tests.support.project import ROOT, Shop, succeeded, unchanged


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database built once; each test gets a copy."""
    path = tmp_path_factory.mktemp("prepared") / "stock.db"
    tools.create(path, catalog.shop(ROOT / "data" / "products.json")["products"])
    return path


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> bytes:
    """The `agent.json` of a run in which nothing went wrong; made once."""
    folder = tmp_path_factory.mktemp("whole")
    shutil.copy(prepared, folder / "stock.db")
    with serving() as server:
        succeeded(Shop(folder, server.url).run("agent"))
    return (folder / "agent.json").read_bytes()


@pytest.fixture
def shop(tmp_path: Path, prepared: Path) -> Iterator[Shop]:
    """A folder with the database, which must be unchanged after the test, byte for byte, with nothing new beside it."""
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    shutil.copy(prepared, outputs / "stock.db")
    yield Shop(outputs)
    assert (outputs / "stock.db").read_bytes() == prepared.read_bytes()
    assert sorted(path.name for path in outputs.glob("stock.db*")) == ["stock.db"]


@pytest.fixture(scope="module", autouse=True)
def project_unchanged() -> Iterator[None]:
    """No test of a module may leave a trace in the project."""
    with unchanged(ROOT):
        yield
