"""HTTP to the model server: a connection for each exchange, a deadline on it, a bound on the reply.

Calls go straight to `LLM_BASE_URL`: proxy variables, redirects and `.netrc` do not apply to a local server.
No retries: a failure is reported once, as `TransportFailure` (no complete reply arrived) or `BadReply` (it did arrive).
A kept-alive connection would save half a millisecond, and would have to ask again when the server had closed it.
"""

import http.client
import json
import socket
import threading
from contextlib import suppress
from typing import Any

import requests
import urllib3
from requests import codes

from src.base.printable import excerpt
from src.base.records import ChatRequest, JsonValue, Reply
from src.server import connection, settings
from src.server.deadline import Deadline
from src.server.reply import BadReply, TransportFailure, read_reply
from src.server.settings import Settings

# What the libraries' own reading of a broken header ends with; RuntimeError: no thread for the deadline.
UNREADABLE = (AttributeError, LookupError, RuntimeError, TypeError)
CONNECT_S = 5.0  # a local server accepts at once; a missing one should not cost a whole timeout
REPLY_BYTES = 8 << 20  # 8 MiB: far above 100 tokens, so that odd but whole answers are stored rather than lost


class UnknownHost(TransportFailure):
    """The host name cannot be resolved."""


class Client:
    """One server and the exchanges with it, one at a time; use one client per thread."""

    def __init__(self, config: Settings) -> None:
        self.config = config
        self._sockets: list[Any] = []
        self._expired = False
        self._deadline = Deadline(self._cut)  # a socket timeout alone lets a slow drip go on for ever
        self._requests: dict[tuple[str, str], requests.PreparedRequest] = {}
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["Connection"] = "close"
        self._session.headers["Accept-Encoding"] = "identity"  # a compressed reply could outgrow the bound
        if config.api_key:
            self._session.headers["Authorization"] = f"Bearer {config.api_key}"
        adapter = connection.adapter(self._sockets, lambda: self._expired)
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)

    def chat(self, body: ChatRequest) -> Reply:
        """Send one chat completion request and return what `read_reply` returns."""
        status, content = self._exchange("POST", "/v1/chat/completions", self.config.timeout_s, body)
        if status != codes.ok:
            raise BadReply(f"HTTP {status}: {_server_message(content)}")
        return read_reply(content)

    def get(self, path: str) -> tuple[int, JsonValue]:
        """Return the status and the JSON value at `path`, or `None` in place of a body that is not JSON."""
        status, content = self._exchange("GET", path, CONNECT_S)
        try:
            return status, json.loads(content)
        except (ValueError, RecursionError):
            return status, None

    def _exchange(self, method: str, path: str, seconds: float, body: Any = None) -> tuple[int, bytes]:
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
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError, *UNREADABLE) as exc:
            raise _failure(TimeoutError() if self._expired else exc, seconds) from exc
        finally:
            while self._sockets:
                self._sockets.pop().close()

    def _send(self, method: str, path: str, seconds: float, body: Any) -> requests.Response:
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


def _failure(exc: BaseException, seconds: float) -> TransportFailure:
    """Name a transport failure in a few words; the library's own text carries object addresses and whole URLs."""
    chain = [exc]
    while (inner := chain[-1].__cause__ or chain[-1].__context__ or _wrapped(chain[-1])) and inner not in chain:
        chain.append(inner)
    if any(isinstance(link, urllib3.exceptions.NameResolutionError) for link in chain):
        return UnknownHost("the host name is unknown")
    for kind, words in (
        (ConnectionRefusedError, "connection refused"),
        (urllib3.exceptions.ConnectTimeoutError, f"no connection within {min(CONNECT_S, seconds):g} s"),
        (TimeoutError, f"no complete reply within {seconds:g} s"),
        (urllib3.exceptions.ReadTimeoutError, f"no complete reply within {seconds:g} s"),
        (http.client.RemoteDisconnected, "the server closed the connection without a reply"),
        (ConnectionResetError, "connection reset"),
        (http.client.BadStatusLine, "the reply is not HTTP"),
        (http.client.IncompleteRead, "the reply was cut short"),
        (AttributeError, "the reply's headers cannot be read"),
        (LookupError, "the reply's headers cannot be read"),
        (TypeError, "the reply's headers cannot be read"),
    ):
        if any(isinstance(link, kind) for link in chain):
            return TransportFailure(words)
    return TransportFailure(excerpt(f"{type(chain[-1]).__name__}: {chain[-1]}"))


def _wrapped(exc: BaseException) -> BaseException | None:
    """The exception that requests and urllib3 hand over as an argument or a `reason` rather than as a cause."""
    candidates = [getattr(exc, "reason", None), *exc.args]
    return next((found for found in candidates if isinstance(found, BaseException)), None)


def _server_message(content: bytes) -> str:
    """The server's own words from an error body: llama.cpp sends JSON, a proxy in front of it HTML."""
    text = content[: 1 << 16].decode("utf-8", "replace")
    try:
        message = str(json.loads(text)["error"]["message"])
    except (ValueError, RecursionError, TypeError, KeyError, IndexError):
        message = text
    return excerpt(message) or "empty body"


_LOCAL = threading.local()


def current() -> Client:
    """This thread's client for the server that the environment names."""
    config, client = settings.from_environment(), getattr(_LOCAL, "client", None)
    if client is None or client.config != config:
        client = _LOCAL.client = Client(config)
    return client
