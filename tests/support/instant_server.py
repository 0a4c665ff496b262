"""A model server that answers at once, for tests and for `scripts/bench.py`; it holds no model.

It speaks the part of llama.cpp's HTTP interface that the program uses, over kept-alive connections. By default it
proposes the reference named in the question and states the observation correctly; a `script` can say something else.
Run as a program it prints its address and serves until standard input closes.
"""

import contextlib
import json
import re
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

MODEL = "Stand-in Q0_0"
REFERENCE = re.compile("REF-[0-9]{3}")
LINE_BYTES = 1 << 16

# Takes the request's body and returns the text to answer with, or the whole reply.
Script = Callable[[dict[str, Any]], "str | dict[str, Any]"]


def honest(body: dict[str, Any]) -> str:
    """Propose the reference of the question; then state the observation: the stock number, or `introuvable`."""
    asked = body["messages"][-1]["content"]
    if "response_format" in body:
        found = REFERENCE.search(asked)
        return json.dumps(
            {"outil": "consulter_stock", "arguments": {"ref": found[0] if found else "REF-999"}}, ensure_ascii=False
        )
    observation = json.loads(asked.rsplit("Observation outil: ", 1)[1])
    return str(observation.get("stock", "introuvable"))


def reply(text: str, finish_reason: str = "stop", **more: Any) -> dict[str, Any]:
    """Return a chat completion in llama.cpp's shape with fixed timings, shorter than any exchange takes."""
    return {
        "object": "chat.completion",
        "model": MODEL,
        "system_fingerprint": "stand-in-1",
        "choices": [
            {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": text}},
        ],
        "timings": {"cache_n": 0, "prompt_n": 60, "prompt_ms": 0.01, "predicted_n": 20, "predicted_ms": 0.02},
        **more,
    }


class InstantServer:
    """Serves on a free loopback port while its `with` block runs; `asked` keeps the bodies of the completions."""

    def __init__(self, script: Script = honest, slots: int = 1, address: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        self.script, self.slots, self.model = script, slots, MODEL
        self.asked: list[dict[str, Any]] = []
        self._open: set[socket.socket] = set()
        self._server = _Server(address, _Handler)
        self._server.owner = self

    @property
    def url(self) -> str:
        """The address to put into LLM_BASE_URL."""
        return f"http://{self._server.server_address[0]!s}:{self.port}"

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    def __enter__(self) -> "InstantServer":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def cut(self) -> None:
        """Stop listening and break every open connection, like a server that was killed."""
        self.__exit__(None, None, None)
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def get(self, path: str) -> dict[str, Any] | None:
        """Return what a GET of `path` answers, or `None` for a path that does not exist."""
        known: dict[str, dict[str, Any]] = {
            "/health": {"status": "ok"},
            "/props": {
                "model_ftype": "Q0_0",
                "build_info": "stand-in-1",
                "total_slots": self.slots,
                "default_generation_settings": {"n_ctx": 2048},
            },
            "/v1/models": {"data": [{"id": self.model, "tags": ["cpu"]}]},
        }
        return known.get(path)

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        """Remember the request and answer it by the script."""
        self.asked.append(body)
        said = self.script(body)
        return reply(said, model=self.model) if isinstance(said, str) else said


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64
    owner: InstantServer


class _Handler(socketserver.StreamRequestHandler):
    """HTTP/1.1 by hand: the standard library's handler costs more than what is being measured."""

    disable_nagle_algorithm = True
    server: _Server

    def handle(self) -> None:
        connections = self.server.owner._open
        connections.add(self.connection)
        try:
            with contextlib.suppress(ConnectionError):  # a client may leave at any time
                self._serve()
        finally:
            connections.discard(self.connection)

    def _serve(self) -> None:
        while request := self.rfile.readline(LINE_BYTES):
            length = 0
            while (line := self.rfile.readline(LINE_BYTES).strip()) != b"":
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            body = self.rfile.read(length)
            method, path, _ = request.decode("ascii").split(" ", 2)
            owner = self.server.owner
            answer = owner.complete(json.loads(body)) if method == "POST" else owner.get(path)
            self._send(answer)

    def _send(self, answer: dict[str, Any] | None) -> None:
        status = "404 Not Found" if answer is None else "200 OK"
        content = json.dumps(answer or {"error": {"code": 404, "message": "File Not Found"}}).encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: {len(content)}"
        self.wfile.write(head.encode() + b"\r\n\r\n" + content)


def slow(milliseconds: float, slots: int) -> Script:
    """Answer honestly after so many milliseconds, `slots` requests at a time as a real server does; others wait."""
    free = threading.BoundedSemaphore(slots)

    def answer(body: dict[str, Any]) -> str:
        with free:
            time.sleep(milliseconds / 1000)
            return honest(body)

    return answer


def main() -> None:
    """Serve until standard input closes, which it does however the parent ends.

    Arguments: how many slots a server has, milliseconds for a reply, and an address to listen on for each server. Each
    one's address is printed, a line each.
    """
    given = [*sys.argv[1:], *["1", "0", "127.0.0.1:0"][len(sys.argv) - 1 :]]
    slots, milliseconds = int(given[0]), float(given[1])
    with contextlib.ExitStack() as servers:
        for address in given[2:]:
            host, _, port = address.rpartition(":")
            script = slow(milliseconds, slots) if milliseconds else honest
            server = servers.enter_context(InstantServer(script, slots, (host, int(port))))
            print(server.url, flush=True)
        sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
