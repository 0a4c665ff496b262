"""The conditions a result was produced under: enough to say whether two runs may be compared.

What the server reports is recorded as its own claim. No path and no address of the machine is kept.
"""

import hashlib
import math
import os
import sqlite3
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from src import __version__
from src.base.printable import excerpt
from src.base.records import JsonObject, JsonValue, Machine, Program, Result
from src.runs.records import Server
from src.server.reply import BadReply
from src.server.settings import DEVICE_TAGS, ENGINE_TAG

if TYPE_CHECKING:
    from src.server.client import Client

CPU_INFO = Path("/proc/cpuinfo")  # Linux; elsewhere the machine's architecture stands in
SETTINGS = 64  # settings kept; llama.cpp reports about 40


def program() -> Program:
    """The program, the interpreter, SQLite, the machine's kind, and the time in UTC."""
    return {
        "program": f"r3 {__version__}",
        "python": ".".join(map(str, sys.version_info[:3])),
        "sqlite": sqlite3.sqlite_version,
        **machine(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def machine() -> Machine:
    """The kind of this machine, on which every time depends."""
    return {"platform": f"{sys.platform} {os.uname().machine}", "cpu": _cpu()}


def _cpu() -> str:
    """The processor of this machine, e.g. `2 x AMD EPYC`; a server elsewhere has its own."""
    try:
        lines = CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return f"{os.cpu_count()} x {next(names, '') or os.uname().machine}"


def tokens_from_cache(results: Iterable[Result]) -> float | None:
    """Return how many prompt tokens the server took from its cache (0 in R3), or `None` where it does not tell."""
    generations = (g for result in results for g in (result["proposal"], result["answer"]) if g and "timings" in g)
    counts = [generation["timings"]["cache_n"] for generation in generations if "cache_n" in generation["timings"]]
    return sum(counts) if counts else None


def server(client: "Client") -> Server:
    """What the server says about itself: model, build, slots, context, settings; `None` where it says nothing.

    `requested` is the name that was sent with each question. `defaults` are the server's sampling settings; those of
    `generation` in the same record were sent and take precedence. `files` holds the pinned digests of the model of
    that name in `configs/models.lock.json`.
    """
    from src.server.failures import TooSlow  # neither is paid by the commands that need no model
    from src.weights.models import pinned_as

    props = client.props()
    try:
        status, models = client.get("/v1/models", client.config.timeout_s)
    except TooSlow:  # a gateway that asks others first; it is recorded as silent
        status, models = HTTPStatus.REQUEST_TIMEOUT, None
    if status == HTTPStatus.UNAUTHORIZED:
        raise BadReply("HTTP 401; check LLM_API_KEY, or LLM_API_KEY_FILE")
    entry = _entry(models, client.config.model)
    tags = [tag for tag in _list(entry.get("tags")) if isinstance(tag, str)]
    name = _text(entry.get("id")) or _text(props.get("model_alias"))
    generation = _dict(props.get("default_generation_settings"))
    template = props.get("chat_template")
    return {
        "requested": client.config.model,
        "model": name,
        "quantisation": _text(props.get("model_ftype")),
        "files": [{"name": file.name, "sha256": file.sha256} for file in pinned_as(name or "")],
        "build": _text(next((tag for tag in tags if tag.startswith(ENGINE_TAG)), props.get("build_info"))),
        "slots": _integer(props.get("total_slots")),
        "context_tokens": _integer(generation.get("n_ctx")),
        "device": next((tag for tag in DEVICE_TAGS if tag in tags), None),
        "parameters": _integer(_dict(entry.get("meta")).get("n_params")),
        "chat_template_sha256": _sha256(template) if isinstance(template, str) and template else None,
        "defaults": _scalars(_dict(generation.get("params"))),
    }


def _entry(models: JsonValue, requested: str) -> JsonObject:
    """The model that answers: the one with the requested name, or the only one; otherwise it is not known which."""
    entries = [_dict(entry) for entry in _list(_dict(models).get("data"))]
    named = [entry for entry in entries if entry.get("id") == requested]
    found = named or entries
    return found[0] if len(found) == 1 else {}


def _scalars(settings: JsonObject) -> dict[str, bool | int | float | str]:
    """The plain values of a settings block, bounded: they are foreign input, and go into every result."""
    plain = {excerpt(key): value for key, value in settings.items() if isinstance(value, bool | int | float | str)}
    kept = {key: excerpt(value) if isinstance(value, str) else value for key, value in sorted(plain.items())[:SETTINGS]}
    return {key: value for key, value in kept.items() if not isinstance(value, float) or math.isfinite(value)}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _dict(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _integer(value: JsonValue) -> int | None:
    return value if type(value) is int and abs(value) < 1 << 53 else None


def _text(value: JsonValue) -> str | None:
    return excerpt(value) if isinstance(value, str) and value else None


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
