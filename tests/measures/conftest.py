"""Runs for the tests of the measures, made against a server that answers at once; no model behind them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from src.base.records import Language
from src.commands import prepare
from src.runs import catalog, session
from src.runs.outputs import Outputs
from tests.support.instant_server import InstantServer, Script, honest

Make = Callable[..., Outputs]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., InstantServer]]:
    """Start a stand-in server and point the program at it."""
    started: list[InstantServer] = []

    def start(script: Script = honest, slots: int = 1) -> InstantServer:
        server = InstantServer(script, slots)
        started.append(server.__enter__())
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        return server

    yield start
    for server in started:
        server.__exit__(None, None, None)


@pytest.fixture
def make(tmp_path: Path, serve: Callable[..., InstantServer]) -> Make:
    """Make a run in a folder of its own and return the folder."""

    def run(
        name: str = "run", script: Script = honest, slots: int = 1, language: Language = "en", **how: Any
    ) -> Outputs:
        serve(script, slots)
        outputs = Outputs(tmp_path / name)
        prepare.prepare(outputs, catalog.DATA)
        session.work(session.begin(outputs, catalog.DATA, language, lambda _: None, **how), lambda _: None)
        return outputs

    return run
