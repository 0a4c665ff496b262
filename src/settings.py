"""Where the model server is: `LLM_BASE_URL`, `LLM_API_KEY`, `LLM_MODEL`, `LLM_TIMEOUT_S`, `LLM_WAIT_S`.

Read from the environment. Nothing here opens a connection.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from src.errors import Precondition

BASE_URL = "http://server:8080"  # the service name of compose.yaml
TIMEOUT_S = 120.0  # one reply: 100 tokens of a 7B model on a slow CPU take about a minute
WAIT_S = 600.0  # loading 4.7 GB from a cold disk takes minutes
MODEL = "r3"  # llama.cpp serves one model and ignores the name; other servers want theirs


@dataclass(frozen=True)
class Settings:
    """One model server: its address, credentials, the model's name, and the limits in seconds."""

    base_url: str
    api_key: str
    model: str
    timeout_s: float
    wait_s: float


def from_environment(env: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings; `Precondition` names the variable, its value and what it must be."""
    url = env.get("LLM_BASE_URL") or BASE_URL
    try:
        parts = urlsplit(url)
        legal = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 80) and url.isprintable()
    except ValueError:
        legal = False
    if not legal:
        raise Precondition(f"LLM_BASE_URL={url!r} is not an http(s) address; example: {BASE_URL}")
    key = env.get("LLM_API_KEY") or ""
    if not (key.isascii() and key.isprintable()):
        raise Precondition("LLM_API_KEY holds characters that an HTTP header cannot carry; check how it was set")
    base = url.rstrip("/").removesuffix("/v1")
    model = env.get("LLM_MODEL") or MODEL
    return Settings(base, key, model, _seconds(env, "LLM_TIMEOUT_S", TIMEOUT_S), _seconds(env, "LLM_WAIT_S", WAIT_S))


def _seconds(env: Mapping[str, str], name: str, default: float) -> float:
    text = env.get(name) or str(default)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1e6:  # false for nan as well
        raise Precondition(f"{name}={text!r} is not a number of seconds above 0; example: {name}={default:g}")
    return value
