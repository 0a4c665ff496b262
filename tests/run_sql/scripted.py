"""A model server that says what a test tells it to, on a free loopback port, and remembers what it was asked.

A stand-in for faults that the real server does not produce on demand. Bounded: one test, one queue of replies.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def completion(content: str, finish_reason: str = "stop") -> tuple[int, bytes]:
    """Return a chat completion holding `content`."""
    choice = {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": content}}
    return 200, json.dumps({"choices": [choice]}).encode()


def proposal(query: str) -> tuple[int, bytes]:
    """Return a chat completion that proposes `query`."""
    return completion(json.dumps({"query": query}))


class ScriptedServer(ThreadingHTTPServer):
    """Replies in order, and after the last one none; `asked` holds the bodies of the requests."""

    def __init__(self, replies: list[tuple[int, bytes] | None]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies = replies
        self.asked: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        """The address to put into LLM_BASE_URL."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """Answers /health, and each chat completion with the next reply; a reply of None closes the connection."""

    server: ScriptedServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send(200, b'{"status":"ok"}')

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        reply = self.server.replies.pop(0) if self.server.replies else None
        if reply is None:
            self.close_connection = True
            return
        self.send(*reply)

    def send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the base class's name)
        """Keep the test's output clean."""


@contextmanager
def serving(*replies: tuple[int, bytes] | None) -> Iterator[ScriptedServer]:
    """Serve these replies while the block runs."""
    server = ScriptedServer(list(replies))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
