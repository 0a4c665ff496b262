"""Waiting until the model server can answer: it may still be loading its model, or not be there at all.

What keeps it from answering is looked at again and again, and how long that may last depends on what it is. Nothing
is asked of the model here.
"""

import ipaddress
import os
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple
from urllib.parse import urlsplit

from requests import codes

from src.base import shell
from src.base.errors import ServerUnavailable
from src.server.client import CONNECT_S, UNDERSTOOD, Client
from src.server.failures import TooSlow, UnknownHost, Unreachable, Untrusted
from src.server.reply import BadReply, TransportFailure
from src.server.settings import BASE_URL
from src.weights import models

NOBODY_S = 15.0  # how long to retry a refused connection here: a server that was just started needs a moment
# The same on another host: `server-cpu` checks the SHA-256 of its model, up to 4.7 GB, before it opens the port.
NOBODY_ELSEWHERE_S = 60.0
UNKNOWN_S = 5.0  # how long to retry an unresolved name
LOADING = (codes.bad_gateway, codes.service_unavailable, codes.gateway_timeout)
NO_GET = (codes.method_not_allowed, codes.not_implemented)
POLL_S = 0.5
LEAST_S = 1.0  # one look takes this long at most, however short LLM_WAIT_S is
CONTAINER = "start it with: docker compose up -d server (or server-cpu)"
ADDRESS = "look at LLM_BASE_URL"
LATER = "raise LLM_WAIT_S, or see its log"
BROKEN = "see its log, or look at LLM_BASE_URL"
FAILED = "see its log; a gateway may answer so where LLM_API_KEY is missing or wrong"


class State(NamedTuple):
    """What keeps the server from answering, how many seconds that may last, and what can be done; no words: ready."""

    words: str = ""
    patience_s: float = 0
    remedy: str = ""


def wait_ready(client: Client, say: Callable[[str], object]) -> None:
    """Return when the server can answer; `say` is told when its state changes.

    Raises `ServerUnavailable` naming the address, the last state and the remedy: nobody listens, the model is still
    loading after `LLM_WAIT_S`, or something other than a model server answers.
    """
    started, waited, told = time.monotonic(), 0.0, ""
    limit = client.config.wait_s
    while True:
        # A slow server is given longer each time: one that needs 8 s for a reply would otherwise never answer in time.
        state = _state(client, min(max(CONNECT_S, waited), max(limit - waited, LEAST_S)))
        if not state.words:
            return
        waited = time.monotonic() - started
        if waited >= min(state.patience_s, limit):
            raise ServerUnavailable(
                f"model server {client.config.base_url}: {state.words} (waited {waited:.1f} s); {state.remedy}"
            )
        if state.words != told:
            say(f"waiting for the model server at {client.config.base_url}: {state.words}")
            told = state.words
        time.sleep(min(POLL_S, limit - waited))
        waited = time.monotonic() - started


def patience(base_url: str) -> float:
    """Return for how many seconds a refused connection is retried at this address, e.g. 15 at `http://127.0.0.1:8080`."""
    host = urlsplit(base_url).hostname or ""
    try:
        here = ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        here = host == "localhost"
    return NOBODY_S if here else NOBODY_ELSEWHERE_S


def start(base_url: str) -> str:
    """Say how to come to a server where nobody listens: first by what is on this machine already."""
    if in_container():
        return CONTAINER if base_url == BASE_URL else f"start the server there, or {ADDRESS}"
    # Subtle: no port of compose's server is open to this machine, so `docker compose up` does not help here.
    there = "set LLM_BASE_URL to a server of yours" if base_url == BASE_URL else f"start the server there, or {ADDRESS}"
    if embedded_is_here():
        return f"add --embedded, or once: export R3_EMBEDDED=1 (the server in this environment); or {there}"
    return f"{there}; {shell.QUICKSTART} brings a server of its own, docs/CONTAINERS.md has the containers' way"


def in_container() -> bool:
    """Whether this is the app of compose.yaml, which has no embedded server."""
    return os.environ.get(shell.TYPED, "").startswith("docker ")


def embedded_is_here() -> bool:
    """Whether the wheel and the model of the embedded server are in place; they are checked when they are used."""
    files = models.load("embedded").files
    return bool(find_spec("xllamacpp")) and all((models.MODELS / file.name).is_file() for file in files)


def _state(client: Client, seconds: float) -> State:
    """Look once, each request taking `seconds` at most."""
    wait_s = client.config.wait_s
    try:
        health = _health(client, seconds)
        if health is not None:
            return health
        # Servers other than llama.cpp have no /health, an empty or a slow one; nearly all list their models.
        status, body = client.get("/v1/models", seconds)
        if status == codes.not_found and client.takes_questions(seconds):
            return State()
    except TooSlow as exc:
        return State(str(exc), wait_s, LATER)
    except UnknownHost as exc:
        return State(str(exc), UNKNOWN_S, start(client.config.base_url))
    except Unreachable as exc:
        return State(str(exc), patience(client.config.base_url), start(client.config.base_url))
    except Untrusted as exc:
        return State(str(exc), 0, ADDRESS)
    except TransportFailure as exc:
        return State(str(exc), patience(client.config.base_url), BROKEN)
    except BadReply as exc:
        return State(str(exc), 0, ADDRESS)
    if status == codes.ok and isinstance(body, dict) and isinstance(body.get("data"), list):
        return State()
    if status in NO_GET:  # it takes questions only; the first one will tell
        return State()
    if status in (codes.unauthorized, codes.forbidden):
        if client.takes_questions(seconds, UNDERSTOOD):  # the key is right, and for questions only
            return State()
        return State(f"HTTP {status}", 0, "check LLM_API_KEY, or LLM_API_KEY_FILE")
    if status in LOADING:
        return _loading(status, wait_s)
    if status == codes.internal_server_error:
        return State(f"HTTP {status}", patience(client.config.base_url), FAILED)
    return State(f"something answers there (HTTP {status}), but not as a model server", 0, ADDRESS)


def _health(client: Client, seconds: float) -> State | None:
    """What llama.cpp's own /health says; `None` where it says nothing, or not in time."""
    try:
        status, body = client.get("/health", seconds)
    except TooSlow:  # a gateway may ask all its models before it answers here
        return None
    if status == codes.ok and isinstance(body, dict) and body.get("status") == "ok":
        return State()
    if status not in LOADING:
        return None
    # A gateway calls itself unwell for any of its models. While llama.cpp loads, it refuses this request as well.
    return State() if client.takes_questions(seconds, UNDERSTOOD) else _loading(status, client.config.wait_s)


def _loading(status: int, wait_s: float) -> State:
    """What a server says that will answer, or a gateway in front of it."""
    loading = ": loading the model" if status == codes.service_unavailable else ""
    return State(f"not ready, HTTP {status}{loading}", wait_s, LATER)
