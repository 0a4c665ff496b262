"""Prepares the hub's environment variables for `huggingface_hub`, which reads them once, on import.

An empty one (a line of .env without a value) would be read as an empty address or an invalid number, and cause
a traceback; so it counts as unset. Nothing here imports the library or opens a connection.
"""

import os
from collections.abc import MutableMapping

from src.base.errors import Precondition

SECONDS = ("HF_HUB_DOWNLOAD_TIMEOUT", "HF_HUB_ETAG_TIMEOUT")


def check(env: MutableMapping[str, str] = os.environ) -> None:
    """Drop the empty ones; `Precondition` names a waiting time that is not a whole number of seconds above 0."""
    for name in [name for name, value in env.items() if name.startswith("HF_") and not value.strip()]:
        del env[name]
    for name in SECONDS:
        text = env.get(name, "1")
        if not (text.isascii() and text.isdigit() and int(text) > 0):
            raise Precondition(f"{name}={text!r} is not a whole number of seconds above 0; example: {name}=60")
    # Without it 2.4.0 also asks the hub which tool the environment looks like.
    env.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
