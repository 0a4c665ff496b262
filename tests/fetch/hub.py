"""A local stand-in that speaks the hub's download protocol and misbehaves on request.

It serves HEAD and GET of `/OWNER/NAME/resolve/REVISION/FILE` with the headers that huggingface_hub reads.
Faults are taken from a list, one for each GET; an empty list means good service. It serves no model answers.
"""

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REPOSITORY = "acme/tiny"
REVISION = "0123456789abcdef0123456789abcdef01234567"
STALL_S = 20  # upper bound only: a test releases the handler long before


class Hub(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: str) -> None:
        super().__init__((address, 0), Handler)
        self.files: dict[str, bytes] = {}
        self.headers: dict[str, str] = {}  # replaces what HEAD and GET say; an empty value drops the header
        self.head_faults: list[Fault] = []
        self.faults: list[Fault] = []
        self.asked: list[tuple[str, str, str]] = []
        self.release = threading.Event()

    @property
    def url(self) -> str:
        return f"http://{self.server_address[0]!s}:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed on purpose is no news."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def log_message(self, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(self.server.head_faults, self._head)

    def do_GET(self) -> None:
        self._answer(self.server.faults, self.send_file)

    def _answer(self, faults: list["Fault"], normal: Callable[[bytes], None]) -> None:
        name = self.path.rsplit("/", 1)[-1]
        self.server.asked.append((self.command, name, self.headers.get("Range", "")))
        body = self.server.files.get(name)
        if body is None or not self.path.startswith(f"/{REPOSITORY}/resolve/{REVISION}/"):
            return self.send_status(404, {"X-Error-Code": "EntryNotFound"})
        if faults:
            return faults.pop(0)(self, body)
        return normal(body)

    def _head(self, body: bytes) -> None:
        self.start(200, body, len(body))

    def start(self, status: int, body: bytes, length: int, extra: dict[str, str] | None = None) -> None:
        digest = hashlib.sha256(self.server.files[self.path.rsplit("/", 1)[-1]]).hexdigest()
        headers = {"X-Repo-Commit": REVISION, "X-Linked-Etag": f'"{digest}"', "ETag": '"meta"'}
        headers |= {
            "Content-Length": str(length),
            "Accept-Ranges": "bytes",
            **self.server.headers,
            **(extra or {}),
        }
        self.send_response(status)
        for key, value in headers.items():
            if value:
                self.send_header(key, value)
        self.end_headers()

    def send_status(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in {"Content-Length": "0", **headers}.items():
            self.send_header(key, value)
        self.end_headers()

    def begin(self, body: bytes, length: int | None = None) -> bytes:
        """Send the head of a 200 or, for a range, a 206; returns the bytes that follow."""
        first = int(self.headers.get("Range", "bytes=0-")[6:].split("-")[0])
        rest = body[first:]
        extra = {"Content-Range": f"bytes {first}-{len(body) - 1}/{len(body)}"} if "Range" in self.headers else {}
        self.start(206 if extra else 200, body, len(rest) if length is None else length, extra)
        return rest

    def send_file(self, body: bytes) -> None:
        self.wfile.write(self.begin(body))

    def hang_up(self) -> None:
        self.close_connection = True


Fault = Callable[[Handler, bytes], None]


def status(code: int, **headers: str) -> Fault:
    """Answer with a status and no file."""
    return lambda handler, body: handler.send_status(code, {k.replace("_", "-"): v for k, v in headers.items()})


def closes_after(count: int) -> Fault:
    """Promise everything, send `count` bytes, close."""

    def fault(handler: Handler, body: bytes) -> None:
        handler.wfile.write(handler.begin(body)[:count])
        handler.hang_up()

    return fault


def shortens_to(count: int) -> Fault:
    """Promise and send `count` bytes only, as a proxy does that cut the file."""

    def fault(handler: Handler, body: bytes) -> None:
        handler.wfile.write(handler.begin(body, count)[:count])

    return fault


def stalls_after(count: int) -> Fault:
    """Send `count` bytes, then nothing until the test lets go."""

    def fault(handler: Handler, body: bytes) -> None:
        handler.wfile.write(handler.begin(body)[:count])
        handler.wfile.flush()
        handler.server.release.wait(STALL_S)
        handler.hang_up()

    return fault


def corrupts_byte(position: int) -> Fault:
    """Send the file with one byte changed."""

    def fault(handler: Handler, body: bytes) -> None:
        rest = bytearray(handler.begin(body))
        rest[position] ^= 1
        handler.wfile.write(rest)

    return fault


def ignores_range(handler: Handler, body: bytes) -> None:
    """Send the whole file whatever part was asked for."""
    handler.start(200, body, len(body))
    handler.wfile.write(body)


def adds_byte(handler: Handler, body: bytes) -> None:
    """Send one byte more than the file has."""
    handler.wfile.write(handler.begin(body, len(body) + 1) + b"x")


@contextmanager
def serving(address: str = "127.0.0.1") -> Iterator[Hub]:
    """Run a hub on a free port, of loopback unless a bridge of this machine is named."""
    hub = Hub(address)
    thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.release.set()
        hub.shutdown()
        hub.server_close()
        thread.join()
