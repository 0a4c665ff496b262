"""The faulty server does what its steps say: a wrong test instrument makes every test that uses it worthless.

Run alone with: python -m pytest tests/support
"""

import json
import socket
from collections.abc import Sequence
from contextlib import suppress
from time import sleep

import pytest

from tests.support.faulty_server import (
    FaultyServer,
    Step,
    completion,
    drip,
    endless,
    hang_up,
    http,
    reset,
    send,
    serving,
    wait,
)

ASK = b"GET /x HTTP/1.1\r\nHost: here\r\n\r\n"


def raw(server: FaultyServer, request: bytes = ASK, most: int = 1 << 20) -> bytes:
    """Everything that the server sends on one connection, up to `most` bytes; raises what the socket raises."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as sock:
        sock.sendall(request)
        received = b""
        while len(received) < most and (block := sock.recv(1 << 16)):
            received += block
        return received


def test_steps_go_out_in_order_byte_for_byte() -> None:
    steps: Sequence[Step] = [send(b"one "), wait(0.01), drip(b"two ", 0.001), send(b"\x00\xff"), hang_up]
    with serving(lambda _: steps) as server:
        assert raw(server) == b"one two \x00\xff"


def test_a_reset_is_a_reset_and_not_a_regular_end() -> None:
    with serving(lambda _: [reset]) as server, pytest.raises(ConnectionResetError):
        raw(server)


def test_endless_sends_more_than_anyone_asked_for() -> None:
    with serving(lambda _: [endless(b"abc")]) as server:
        assert len(raw(server, most=1 << 20)) >= 1 << 20


def test_a_connection_stays_open_for_the_next_request() -> None:
    with serving(lambda request: [send(http(b"{}")), *([hang_up] if request.number else [])]) as server:
        assert raw(server, ASK + ASK) == http(b"{}") * 2
        assert server.connections == 1 and [request.path for request in server.requests] == ["/x", "/x"]


def test_a_pending_wait_ends_with_the_server() -> None:
    with serving(lambda _: [wait(25), hang_up]) as server:
        sock = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        sock.sendall(ASK)
        while not server.requests:
            sleep(0.01)
    sock.settimeout(2)
    with sock, suppress(ConnectionResetError):
        assert sock.recv(1) == b""


def test_lengths_may_lie() -> None:
    assert b"Content-Length: 2\r\n" in http(b"{}")
    assert b"Content-Length: 7\r\n" in http(b"{}", length=7)
    assert b"Content-Length" not in http(b"{}", length=None)


def test_without_a_plan_it_is_a_good_model_server() -> None:
    question = {"messages": [{"role": "user", "content": "REF-007?"}], "response_format": {}}
    body = json.dumps(question).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
    plans = [None, [hang_up]]
    with serving(lambda _: plans.pop(0)) as server:
        received = raw(server, head + body + ASK)
        assert [(request.stage, request.asked) for request in server.asked("proposal")] == [("proposal", "REF-007?")]
    content = json.loads(received.split(b"\r\n\r\n")[1])["choices"][0]["message"]["content"]
    assert json.loads(content) == {"outil": "consulter_stock", "arguments": {"ref": "REF-007"}}
    assert completion("x", "length", model="m") == completion("x", "length", model="m")
