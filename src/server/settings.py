"""Settings from the environment: where the model server is (`LLM_BASE_URL`, `LLM_MODEL`, `LLM_TIMEOUT_S`,
`LLM_WAIT_S`), its key (`LLM_API_KEY`, or `LLM_API_KEY_FILE`), and how the embedded one is used (`R3_EMBEDDED`,
`R3_THREADS`).

Nothing here opens a connection or starts anything.
"""

import math
import os
from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from src.base import certificates
from src.base.errors import Precondition
from src.base.parser import whole
from src.server import api_key

BASE_URL = "http://server:8080"  # the service name of compose.yaml
TIMEOUT_S = 120.0  # one reply: 100 tokens of a 7B model on a slow CPU take about a minute
WAIT_S = 600.0  # loading 4.7 GB from a cold disk takes minutes
MAX_S = 1_000_000  # eleven days; far above any wait, far below what a socket's timeout can hold
MODEL = "r3"  # llama.cpp serves one model and ignores the name; other servers want theirs
# llama.cpp does not report its device; `embedded_server` and compose.yaml tag the model with the one requested.
CPU_TAG = "cpu"
DEVICE_TAGS = (CPU_TAG, "cuda")
ENGINE_TAG = "xllamacpp-"  # and with the wheel's version, since the wheel does not know llama.cpp's build number
MAX_THREADS = 1024  # far above the cores of any machine this is for
thread_count = whole(1, MAX_THREADS)  # the one check of --threads and R3_THREADS


@dataclass(frozen=True)
class Settings:
    """One model server: its address, credentials, the model's name, and the limits in seconds."""

    base_url: str
    api_key: str = field(repr=False)
    model: str
    timeout_s: float
    wait_s: float
    authorities: tuple[str, ...] = ()  # files and folders of certificates to trust besides the usual ones


def from_environment(env: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings; `Precondition` names the variable, its value and what it must be."""
    base = _base_url(env.get("LLM_BASE_URL") or BASE_URL)
    key = _key(env)
    model = env.get("LLM_MODEL") or MODEL
    timeout_s, wait_s = _seconds(env, "LLM_TIMEOUT_S", TIMEOUT_S), _seconds(env, "LLM_WAIT_S", WAIT_S)
    authorities = certificates.authorities(env) if base.startswith("https:") else ()
    return Settings(base, key, model, timeout_s, wait_s, authorities)


def _key(env: Mapping[str, str]) -> str:
    """Return the key itself, from the variable or from the file that the other variable names; empty for none."""
    key, path = env.get("LLM_API_KEY") or "", env.get("LLM_API_KEY_FILE") or ""
    if key and path:
        raise Precondition("LLM_API_KEY and LLM_API_KEY_FILE are both set; unset one, so that it is clear which counts")
    if path:
        return api_key.read(path, "LLM_API_KEY_FILE")[0]
    if not (key.isascii() and key.isprintable()):
        raise Precondition("LLM_API_KEY holds characters that an HTTP header cannot carry; check how it was set")
    return key


def _base_url(url: str) -> str:
    """Return the address to which the paths of the interface are added."""
    if "@" in url or "?" in url or "#" in url:
        # The value is not repeated: it may hold a password, and this address appears in many messages and in results.
        raise Precondition(
            "LLM_BASE_URL may hold neither a user and password nor a query or fragment; give the address alone, "
            f"as in {BASE_URL}, and a key in LLM_API_KEY"
        )
    try:
        legal = _names_a_server(urlsplit(url)) and url.isprintable()
    except ValueError:  # brackets without an IPv6 address, a port that is not a number up to 65535
        legal = False
    if not legal:
        raise Precondition(f"LLM_BASE_URL={url!r} is not an http(s) address; example: {BASE_URL}")
    return url.rstrip("/").removesuffix("/v1")


def _names_a_server(parts: SplitResult) -> bool:
    # Subtle: urlsplit() checks the port only when it is asked for. No port at all is fine; nothing listens on port 0.
    return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0


def _seconds(env: Mapping[str, str], name: str, default: float) -> float:
    text = env.get(name) or str(default)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= MAX_S:  # false for nan as well
        raise Precondition(
            f"{name}={text!r} is not a number of seconds between 0 and {MAX_S}; example: {name}={default:g}"
        )
    return value


def embedded() -> bool:
    """Whether R3_EMBEDDED asks for the embedded server; `Precondition` unless it is empty, 0 or 1."""
    text = os.environ.get("R3_EMBEDDED", "")
    if text not in ("", "0", "1"):
        raise Precondition(f"R3_EMBEDDED={text!r} is neither 1 nor 0; set it to 1 for the embedded model server")
    return text == "1"


def threads() -> int | None:
    """How many threads R3_THREADS gives the embedded server, `None` where it is not set; `Precondition` if wrong."""
    text = os.environ.get("R3_THREADS", "")
    if not text:
        return None
    try:
        return thread_count(text)
    except ArgumentTypeError:
        raise Precondition(f"R3_THREADS={text!r} is not a number of threads from 1 to {MAX_THREADS}") from None
