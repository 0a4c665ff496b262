"""Under which conditions a result came about: enough to say whether two runs may be compared.

What the server reports is recorded as the server's word. No path and no address of the machine is kept.
"""

import platform
import sqlite3
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from src import __version__
from src.models import pinned_as
from src.reply import excerpt

if TYPE_CHECKING:
    from src.client import Client

CPU_TAG = "cpu"  # `src.embedded_server` tags its model so; llama.cpp itself does not report the device
ENGINE_TAG = "xllamacpp-"  # and with the wheel's version, since the wheel does not know llama.cpp's build number


def program() -> dict[str, Any]:
    """The program, the interpreter, SQLite, the machine's kind, and the time in UTC."""
    return {
        "program": f"r3 {__version__}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "platform": f"{sys.platform} {platform.machine()}",
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def server(client: "Client") -> dict[str, Any]:
    """What the server says about itself: model, quantisation, build, slots, context; `None` where it is silent.

    `files` holds the pinned digests of the model of that name in `configs/models.lock.json`.
    """
    _, props = client.get("/props")
    _, models = client.get("/v1/models")
    props = props if isinstance(props, dict) else {}
    entry = _first(models)
    tags = [tag for tag in _list(entry.get("tags")) if isinstance(tag, str)]
    name = _text(entry.get("id")) or _text(props.get("model_alias"))
    generation = props.get("default_generation_settings")
    return {
        "model": name,
        "quantisation": _text(props.get("model_ftype")),
        "files": [{"name": file.name, "sha256": file.sha256} for file in pinned_as(name or "")],
        "build": _text(next((tag for tag in tags if tag.startswith(ENGINE_TAG)), props.get("build_info"))),
        "slots": _count(props.get("total_slots")),
        "context_tokens": _count(generation.get("n_ctx")) if isinstance(generation, dict) else None,
        "device": CPU_TAG if CPU_TAG in tags else None,
    }


def _first(models: Any) -> dict[str, Any]:
    data = models.get("data") if isinstance(models, dict) else None
    found = data[0] if isinstance(data, list) and data else None
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str | None:
    return excerpt(value) if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    return value if type(value) is int else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
