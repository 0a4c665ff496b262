"""A model server on loopback that answers from a script, byte for byte: like a broken server, proxy or connection.

A reply is a sequence of steps on the raw socket (`send`, `wait`, `drip`, `endless`, `hang_up`, `reset`). A plan picks
the reply to each request; if it returns `None`, the request is answered as a good server would.
No HTTP here is made by a library, which would repair what the tests want broken.
"""

import json
import re
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

BLOCK = 1 << 16
LONGEST_S = 30.0  # no step takes longer, whatever the client does
REFERENCE = re.compile("REF-[0-9]{3}")
MODEL = "stand-in"


class HungUp(Exception):
    """The connection is over: by a step, or because the client left."""


@dataclass(frozen=True)
class Request:
    """One request; `stage` is `proposal` or `answer` for a completion, empty for anything else."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    number: int  # of its path, from 0

    @property
    def asked(self) -> str:
        """The user message of a completion."""
        return str(self.body["messages"][-1]["content"]) if isinstance(self.body, dict) else ""

    @property
    def stage(self) -> str:
        if not self.path.endswith("/chat/completions"):
            return ""
        return "proposal" if "response_format" in self.body else "answer"


Step = Callable[[socket.socket, threading.Event], object]
Plan = Callable[[Request], Sequence[Step] | None]


def send(data: bytes) -> Step:
    """Send the bytes at once."""
    return lambda sock, _: sock.sendall(data)


def wait(seconds: float) -> Step:
    """Say nothing for a while, or until the test ends."""
    return lambda _, ended: ended.wait(min(seconds, LONGEST_S))


def drip(data: bytes, every: float) -> Step:
    """Send one byte at a time, `every` so many seconds."""

    def step(sock: socket.socket, ended: threading.Event) -> None:
        for place in range(len(data)):
            sock.sendall(data[place : place + 1])
            if ended.wait(every):
                return

    return step


def endless(data: bytes, limit: int = 1 << 30) -> Step:
    """Repeat the bytes until the client has had enough, a gibibyte at most."""

    def step(sock: socket.socket, ended: threading.Event) -> None:
        block, sent = data * (BLOCK // len(data) + 1), 0
        while sent < limit and not ended.is_set():
            sock.sendall(block)
            sent += len(block)

    return step


def hang_up(sock: socket.socket, _ended: threading.Event) -> None:
    """Close the connection in the regular way."""
    raise HungUp


def reset(sock: socket.socket, _ended: threading.Event) -> None:
    """Close it with a TCP reset: what a killed process or a crashed machine looks like."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raise HungUp


def http(body: bytes = b"", status: str = "200 OK", *headers: str, length: int | str | None = -1) -> bytes:
    """Return the bytes of a reply; `length` -1 declares the true length, `None` none, anything else itself."""
    declared = len(body) if length == -1 else length
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", *headers]
    if declared is not None:
        lines.append(f"Content-Length: {declared}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def completion(content: Any, finish_reason: Any = "stop", **more: Any) -> bytes:
    """Return the JSON body of a chat completion whose text is `content`."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "finish_reason": finish_reason, "message": message}
    return json.dumps({"model": MODEL, "system_fingerprint": "b1", "choices": [choice], **more}).encode()


def proposal(ref: str = "REF-001", tool: str = "consulter_stock") -> str:
    """Return the text of a proposal that the gate accepts."""
    return json.dumps({"outil": tool, "arguments": {"ref": ref}})


def good(request: Request) -> bytes:
    """Answer as a model server that does its work: the reference of the question, then the observed stock."""
    if request.path == "/health":
        return http(b'{"status":"ok"}')
    if request.path == "/v1/models":
        return http(json.dumps({"data": [{"id": MODEL, "tags": ["cpu"]}]}).encode())
    if request.path == "/props":
        return http(json.dumps({"total_slots": 1, "build_info": "b1", "model_alias": MODEL}).encode())
    if request.stage == "proposal":
        found = REFERENCE.search(request.asked)
        return http(completion(proposal(found[0] if found else "REF-999")))
    if request.stage == "answer":
        seen = json.loads(request.asked.rsplit("Observation outil: ", 1)[1])
        return http(completion(f"Stock: {seen['stock']}" if "stock" in seen else "introuvable"))
    return http(b'{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}', "404 Not Found")


class FaultyServer(socketserver.ThreadingTCPServer):
    """Listens on a free loopback port; `requests` keeps what was asked. Use `serving()`."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, plan: Plan, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Connection)
        self.plan = plan
        self.requests: list[Request] = []
        self.connections = 0
        self.ended = threading.Event()
        self.lock = threading.Lock()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def asked(self, stage: str) -> list[Request]:
        """The completions of one stage."""
        return [request for request in self.requests if request.stage == stage]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the middle is what many tests are about."""

    def note(self, method: str, path: str, headers: dict[str, str], body: Any) -> Request:
        with self.lock:
            number = sum(request.path == path for request in self.requests)
            self.requests.append(Request(method, path, headers, body, number))
            return self.requests[-1]


class _Connection(socketserver.BaseRequestHandler):
    """Serves the requests of one kept-alive connection."""

    server: FaultyServer

    def handle(self) -> None:
        self.server.connections += 1
        self.request.settimeout(LONGEST_S)
        reader = self.request.makefile("rb")
        try:
            while (request := self._read(reader)) is not None:
                for step in self.server.plan(request) or [send(good(request))]:
                    step(self.request, self.server.ended)
        except (HungUp, OSError):
            pass
        finally:
            reader.close()
            self.request.close()  # the base class would shut it down first, and a reset would become a regular end

    def _read(self, reader: Any) -> Request | None:
        first = reader.readline(BLOCK).split()
        if len(first) != 3:
            return None
        headers = {}
        while (line := reader.readline(BLOCK).strip()) != b"":
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        content = reader.read(int(headers.get("content-length", 0)))
        return self.server.note(first[0].decode(), first[1].decode(), headers, json.loads(content or b"null"))


@contextmanager
def serving(plan: Plan = lambda _: None, port: int = 0) -> Iterator[FaultyServer]:
    """Serve while the block runs; every pending wait ends with it."""
    server = FaultyServer(plan, port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def answering(*replies: bytes | None) -> Iterator[FaultyServer]:
    """Serve these replies to the completions, in order; None, and any more than these, hangs up."""

    def plan(request: Request) -> Sequence[Step] | None:
        if not request.stage:
            return None
        reply = replies[request.number] if request.number < len(replies) else None
        return [hang_up] if reply is None else [send(reply)]

    with serving(plan) as server:
        yield server
