"""Waiting until the model server can answer: it may still be loading its model, or not be there at all.

What keeps it from answering is looked at again and again, and how long that may last depends on what it is. Nothing
is asked of the model here.
"""

import ipaddress
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from requests import codes

from src.base.errors import ServerUnavailable
from src.server.client import Client, UnknownHost
from src.server.reply import BadReply, TransportFailure

NOBODY_S = 15.0  # how long to retry a refused connection here: a server that was just started needs a moment
# The same on another host: `server-cpu` checks the SHA-256 of its model, up to 4.7 GB, before it opens the port.
NOBODY_ELSEWHERE_S = 60.0
UNKNOWN_S = 5.0  # how long to retry an unresolved name
LOADING = (codes.internal_server_error, codes.bad_gateway, codes.service_unavailable, codes.gateway_timeout)
NO_GET = (codes.method_not_allowed, codes.not_implemented)
POLL_S = 0.5


def wait_ready(client: Client, say: Callable[[str], object]) -> None:
    """Return when the server can answer; `say` is told when its state changes.

    Raises `ServerUnavailable` naming the address, the last state and the remedy: nobody listens, the model is still
    loading after `LLM_WAIT_S`, or something other than a model server answers.
    """
    started, told = time.monotonic(), ""
    while True:
        state, patience_s = _state(client)
        if not state:
            return
        waited = time.monotonic() - started
        if waited >= min(patience_s, client.config.wait_s):
            raise ServerUnavailable(
                f"model server {client.config.base_url}: {state} (waited {waited:.0f} s); start it with "
                "'docker compose up -d server' (or server-cpu) and see 'docker compose logs server' (or server-cpu), "
                "or use --embedded"
            )
        if state != told:
            say(f"waiting for the model server at {client.config.base_url}: {state}")
            told = state
        time.sleep(POLL_S)


def patience(base_url: str) -> float:
    """Return for how many seconds a refused connection is retried at this address, e.g. 15 at `http://127.0.0.1:8080`."""
    host = urlsplit(base_url).hostname or ""
    try:
        here = ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        here = host == "localhost"
    return NOBODY_S if here else NOBODY_ELSEWHERE_S


def _state(client: Client) -> tuple[str, float]:
    """What keeps the server from answering, and how many seconds that may last; an empty text when it is ready."""
    try:
        status, body = client.get("/health")
        if status == codes.ok and isinstance(body, dict) and body.get("status") == "ok":
            return "", 0
        if status in LOADING:
            loading = ": loading the model" if status == codes.service_unavailable else ""
            return f"not ready, HTTP {status}{loading}", client.config.wait_s
        # Servers other than llama.cpp have no /health, or an empty one; nearly all list their models.
        status, body = client.get("/v1/models")
    except TransportFailure as exc:
        return str(exc), UNKNOWN_S if isinstance(exc, UnknownHost) else patience(client.config.base_url)
    except BadReply as exc:
        return str(exc), 0
    if status == codes.ok and isinstance(body, dict) and isinstance(body.get("data"), list):
        return "", 0
    if status in NO_GET:  # it takes questions only; the first one will tell
        return "", 0
    if status in (codes.unauthorized, codes.forbidden):
        return f"HTTP {status}; check LLM_API_KEY", 0
    return f"something answers there (HTTP {status}), but not as a model server", 0
