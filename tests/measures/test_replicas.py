"""Several servers behind one name: found, compared, spread over, and lost, on addresses of this machine's loopback.

Run alone: python -m pytest tests/measures/test_replicas.py
"""

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from src.base.errors import Interrupted, Precondition, ServerUnavailable
from src.cli import main
from src.commands import prepare
from src.runs import catalog, recovery, session
from src.runs.outputs import Outputs
from src.server import client
from tests.support.instant_server import InstantServer, Script, honest

NAME = "fleet.test"
Fleet = Callable[..., list[InstantServer]]


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    """Start servers on 127.0.0.1, 127.0.0.2, ... and let one name have all their addresses, each first in turn."""
    known = socket.getaddrinfo
    addresses: list[str] = []
    turns = iter(range(10**9))

    def resolve(host: Any, port: Any, *args: Any, **kinds: Any) -> Any:
        if host != NAME:
            return known(host, port, *args, **kinds)
        first = next(turns) % len(addresses)
        found = addresses[first:] + addresses[:first]
        return [entry for address in found for entry in known(address, port, *args, **kinds)]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with contextlib.ExitStack() as started:

        def start(*scripts: Script, slots: int = 2, silent: int = 0) -> list[InstantServer]:
            addresses[:] = [f"127.0.0.{number}" for number in range(1, len(scripts) + 1 + silent)]
            servers: list[InstantServer] = []
            for address, script in zip(addresses, scripts, strict=False):
                port = servers[0].port if servers else 0
                servers.append(started.enter_context(InstantServer(script, slots, (address, port))))
            for address in addresses[len(scripts) :]:
                started.enter_context(black_hole(address, servers[0].port))
            monkeypatch.setenv("LLM_BASE_URL", f"http://{NAME}:{servers[0].port}")
            return servers

        yield start


@contextlib.contextmanager
def black_hole(address: str, port: int) -> Iterator[None]:
    """An address that takes a connection and never lets it be made: its queue is full and nobody empties it."""
    with contextlib.ExitStack() as held:
        listener = held.enter_context(socket.socket())
        listener.bind((address, port))
        listener.listen(0)
        for _ in range(3):
            filler = held.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex((address, port))
        yield


def begun(outputs: Outputs, in_flight: int = 4, say: Callable[[str], object] = lambda _: None) -> session.Run:
    if not outputs.database.exists():
        prepare.prepare(outputs, catalog.DATA)
    return session.begin(outputs, catalog.DATA, "en", say, in_flight=in_flight)


def record(outputs: Outputs) -> dict[str, Any]:
    return dict(json.loads(outputs.json("agent").read_text(encoding="utf-8")))


def test_a_run_spreads_over_the_servers_and_records_how_many_they_are(
    fleet: Fleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    servers, said = fleet(honest, honest), list[str]()
    outputs = Outputs(tmp_path)
    session.work(begun(outputs, 5, said.append), lambda _: None)
    made = record(outputs)
    assert (made["provenance"]["server"]["replicas"], made["provenance"]["server"]["slots"]) == (2, 2)
    assert "asked_again" not in made and [result["error"] for result in made["results"]] == [None] * 30
    assert said == ["the 2 servers have 2 slots each; the other 1 of 5 questions in flight will wait"]
    assert all(len(server.asked) > 10 for server in servers)
    assert main(["--outputs", str(tmp_path), "evaluate"]) == 0
    assert ", 2 servers of 2 slots, client on " in capsys.readouterr().out.splitlines()[0]


def test_a_server_that_serves_something_else_is_named_before_anything_is_asked(fleet: Fleet, tmp_path: Path) -> None:
    servers = fleet(honest, honest, honest)
    servers[2].model = "Another Q4"
    outputs = Outputs(tmp_path)
    with pytest.raises(Precondition, match=r"the one at 127\.0\.0\.3 is not like the others: model: .*Another Q4"):
        begun(outputs)
    assert [server.asked for server in servers] == [[], [], []]
    assert not outputs.json("agent").exists()


def test_a_server_that_does_not_answer_is_named_before_the_run(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CONNECT_S", 0.3)
    fleet(honest, silent=1)
    with pytest.raises(ServerUnavailable, match=r"at 127\.0\.0\.2: no connection within"):
        begun(Outputs(tmp_path))


def dies_after(servers: list[InstantServer], count: int) -> Script:
    """The script of a server that ends with all its connections in the middle of its `count`th question."""
    once = threading.Lock()

    def answer(body: dict[str, Any]) -> str | dict[str, Any]:
        if len(servers[1].asked) >= count and once.acquire(blocking=False):
            servers[1].cut()
        return honest(body)

    return answer


def test_a_server_that_dies_costs_what_was_in_flight_and_that_is_asked_again(fleet: Fleet, tmp_path: Path) -> None:
    servers: list[InstantServer] = []
    servers += fleet(honest, lambda body: dies_after(servers, 8)(body))
    outputs = Outputs(tmp_path)
    run = begun(outputs)
    session.work(run, lambda _: None)
    made = record(outputs)
    assert [result["id"] for result in made["results"]] == list(range(30)) and made["complete"]
    assert [result["error"] for result in made["results"]] == [None] * 30
    again = made["asked_again"]
    assert 1 <= len(again) <= 4 and all(item["error"] for item in again)
    assert run.again == {item["id"]: item["error"] for item in again}


def test_one_question_at_a_time_is_asked_once_whatever_becomes_of_it(fleet: Fleet, tmp_path: Path) -> None:
    servers: list[InstantServer] = []
    servers += fleet(honest, lambda body: dies_after(servers, 8)(body))
    outputs = Outputs(tmp_path)
    session.work(begun(outputs, 1), lambda _: None)
    made = record(outputs)
    errors = [result["error"] for result in made["results"] if result["error"] is not None]
    assert len(errors) == 1 and "asked_again" not in made


def test_a_node_that_vanishes_without_a_word_costs_a_connect_timeout_and_no_question(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CONNECT_S", 0.3)
    servers = fleet(honest, honest)
    outputs = Outputs(tmp_path)
    run = begun(outputs, 8)
    servers[1].cut()
    with black_hole("127.0.0.2", servers[0].port):
        session.work(run, lambda _: None)
    made = record(outputs)
    assert [result["error"] for result in made["results"]] == [None] * 30 and "asked_again" not in made


def test_a_run_is_resumed_over_the_servers_that_are_left(fleet: Fleet, tmp_path: Path) -> None:
    outputs = Outputs(tmp_path)
    fleet(honest, honest)

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        session.work(begun(outputs), stop)
    fleet(honest)
    run = begun(outputs)
    recovery.resume(run, lambda _: None)
    session.work(run, lambda _: None)
    assert record(outputs)["complete"] and record(outputs)["resumed"]


def test_a_question_that_an_earlier_session_lost_is_recorded_as_asked_again(fleet: Fleet, tmp_path: Path) -> None:
    outputs = Outputs(tmp_path)
    (server,) = fleet(honest)
    run = begun(outputs, 1)
    seen: list[Any] = []

    def progress(result: Any) -> None:
        seen.append(result)
        if len(seen) == 3:
            server.cut()

    with pytest.raises(ServerUnavailable):
        session.work(run, progress)
    fleet(honest)
    again = begun(outputs, 1)
    recovery.resume(again, lambda _: None)
    session.work(again, lambda _: None)
    made = record(outputs)
    assert made["complete"] and {item["id"] for item in made["asked_again"]} == {3, 4, 5}
