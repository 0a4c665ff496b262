"""HTTP to the model server: a connection for each exchange, a deadline on it, a bound on the reply.

Calls go straight to `LLM_BASE_URL`: proxy variables, redirects and `.netrc` do not apply to a local server.
No retries: a failure is reported once, as `TransportFailure` (no complete reply arrived), `BadReply` (it did arrive),
or `failures.Ours` (this machine could not ask).
A kept-alive connection would save half a millisecond, and would have to ask again when the server had closed it.
"""

import json
import socket
import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, TypeVar, cast

import requests
import urllib3
from requests import codes

from src.base.printable import excerpt
from src.base.records import JsonObject, JsonValue, Reply
from src.server import connection, failures, settings
from src.server.deadline import Deadline
from src.server.records import ChatRequest, Sampling
from src.server.reply import BadReply, read_reply, reported
from src.server.settings import Settings

CONNECT_S = 5.0  # a local server accepts at once; a missing one should not cost a whole timeout
OTHERS = (*failures.UNREADABLE, RuntimeError)  # the last one: no thread for the deadline
UNDERSTOOD = (codes.bad_request, codes.unprocessable_entity)  # the request was read, and lacks what it has to hold
REFUSALS = (*UNDERSTOOD, codes.unauthorized, codes.forbidden)
EXTENSIONS = {"cache_prompt"}  # of a request: fields that only llama.cpp has
LLAMA = {"build_info", "default_generation_settings"}  # one of them is in every /props of llama.cpp
REPLY_BYTES = 8 << 20  # 8 MiB: far above 100 tokens, so that odd but whole answers are stored rather than lost

Sent = TypeVar("Sent", bound=Sampling)


class Client:
    """One server and the exchanges with it, one at a time; use one client per thread."""

    def __init__(self, config: Settings, address: str | None = None) -> None:
        """Exchanges go to `address` where it is given, else to one of those that the server's name has."""
        self.config = config
        self._sockets: list[Any] = []
        self._expired = False
        self._extended: bool | None = None  # whether llama.cpp answers there; None until /props has told
        self._deadline = Deadline(self._cut)  # a socket timeout alone lets a slow drip go on for ever
        self._requests: dict[tuple[str, str], requests.PreparedRequest] = {}
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["Connection"] = "close"
        self._session.headers["Accept-Encoding"] = "identity"  # a compressed reply could outgrow the bound
        if config.api_key:
            self._session.headers["Authorization"] = f"Bearer {config.api_key}"
        adapter = connection.adapter(self._sockets, lambda: self._expired, config.authorities, address)
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)

    def chat(self, body: ChatRequest) -> Reply:
        """Send one chat completion request and return what `read_reply` returns."""
        return read_reply(self.complete(self.accepted(body)))

    def complete(self, body: Mapping[str, object]) -> bytes:
        """Send one chat completion request and return the reply's bytes; `BadReply` for any status but 200."""
        status, content = self._exchange("POST", "/v1/chat/completions", self.config.timeout_s, body)
        if status != codes.ok:
            raise BadReply(f"HTTP {status}: {_server_message(content)}")
        return content

    def get(self, path: str, seconds: float = CONNECT_S) -> tuple[int, JsonValue]:
        """Return the status and the JSON value at `path`, or `None` in place of a body that is not JSON."""
        return self._json("GET", path, seconds)

    def props(self) -> JsonObject:
        """What llama.cpp's /props tells, asked each time; empty for another server, or one too slow to tell."""
        try:
            _, found = self.get("/props", self.config.timeout_s)
        except failures.TooSlow:
            return {}
        told = found if isinstance(found, dict) else {}
        self._extended = not LLAMA.isdisjoint(told)
        return told

    def accepted(self, body: Sent) -> Sent:
        """Return `body` with the fields that this server takes: those that only llama.cpp knows go to llama.cpp alone.

        A strict server answers 400 to a field that it does not know. /props, which no other server has, decides.
        """
        if self._extended is None:
            self.props()
        if self._extended is not False:
            return body
        return cast(Sent, {name: value for name, value in body.items() if name not in EXTENSIONS})

    def takes_questions(self, seconds: float, refusals: Collection[int] = REFUSALS) -> bool:
        """Whether a request without a question is refused as one: for servers that offer nothing else to ask."""
        status, body = self._json("POST", "/v1/chat/completions", seconds, {})
        return status in refusals and isinstance(body, dict) and ("error" in body or "detail" in body)

    def _json(
        self, method: str, path: str, seconds: float, body: Mapping[str, object] | None = None
    ) -> tuple[int, JsonValue]:
        status, content = self._exchange(method, path, seconds, body)
        try:
            return status, json.loads(content)
        except (ValueError, RecursionError):
            return status, None

    def _exchange(
        self, method: str, path: str, seconds: float, body: Mapping[str, object] | None = None
    ) -> tuple[int, bytes]:
        self._expired = False
        try:
            with self._deadline.within(seconds), self._send(method, path, seconds, body) as response:
                content = response.raw.read(REPLY_BYTES + 1, decode_content=False)
                if len(content) > REPLY_BYTES:
                    raise BadReply(f"the reply is larger than {REPLY_BYTES} bytes")
                if missing := response.raw.length_remaining:  # of the declared length; a single read does not complain
                    raise urllib3.exceptions.IncompleteRead(len(content), missing)
                if self._expired:  # where no length is declared, our own cut looks like the regular end
                    raise TimeoutError
                return response.status_code, content
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError, *OTHERS) as exc:
            limit = round(seconds, 2)
            raise failures.named(TimeoutError() if self._expired else exc, min(CONNECT_S, limit), limit) from exc
        finally:
            while self._sockets:
                self._sockets.pop().close()

    def _send(self, method: str, path: str, seconds: float, body: Mapping[str, object] | None) -> requests.Response:
        """Send one request and return the reply with its body unread.

        Subtle: not `Session.request()`, which reads and decompresses the whole body of a redirect even when it is told
        not to follow it.
        """
        request = self._prepared(method, path).copy()  # made once: requests takes half a millisecond to make one
        if body is not None:
            request.prepare_body(data=None, files=None, json=body)
        timeout = (min(CONNECT_S, seconds), seconds)
        return self._session.get_adapter(request.url or "").send(request, stream=True, timeout=timeout)

    def _prepared(self, method: str, path: str) -> requests.PreparedRequest:
        """The request without its body: address and headers are the same each time."""
        if (method, path) not in self._requests:
            request = requests.Request(method, self.config.base_url + path)
            self._requests[method, path] = self._session.prepare_request(request)
        return self._requests[method, path]

    def _cut(self) -> None:
        self._expired = True
        for sock in self._sockets:
            with suppress(OSError):  # it may have ended by itself
                sock.shutdown(socket.SHUT_RDWR)  # below TLS as well


def _server_message(content: bytes) -> str:
    """The server's own words from an error body: llama.cpp sends JSON, a proxy in front of it HTML."""
    text = content[: 1 << 16].decode("utf-8", "replace")
    try:
        message = reported(json.loads(text)) or text
    except (ValueError, RecursionError):
        message = text
    return excerpt(message) or "empty body"


_LOCAL = threading.local()


def current() -> Client:
    """This thread's client for the server that the environment names."""
    config, client = settings.from_environment(), getattr(_LOCAL, "client", None)
    if client is None or client.config != config:
        client = _LOCAL.client = Client(config)
    return client
