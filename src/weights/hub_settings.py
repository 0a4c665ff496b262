"""What of the environment `huggingface_hub` and its HTTP library read, checked before they do.

They read it once, on import or when the first connection is made, and end in a traceback where a value makes no sense.
An empty one (a line of .env without a value) counts as unset. Nothing here imports the library or opens a connection.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from src.base import certificates
from src.base.errors import Precondition

SECONDS = ("HF_HUB_DOWNLOAD_TIMEOUT", "HF_HUB_ETAG_TIMEOUT")
IN_HEADERS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_USER_AGENT_ORIGIN")
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")  # each forbids the network


def overrides(env: Mapping[str, str] = os.environ) -> dict[str, str | None]:
    """Return what to set, or unset where it is `None`, while the library is imported and connects.

    Raises `Precondition` naming the variable that it would stumble over.
    """
    # The library brings tqdm, which reads variables of its own on import; its bars are not shown.
    changes: dict[str, str | None] = {
        name: None for name, text in env.items() if _blank(name, text) or name.startswith("TQDM_")
    }
    given = {name: text for name, text in env.items() if name not in changes}
    for name in SECONDS:
        text = given.get(name, "1")
        if not (text.isascii() and text.isdigit() and int(text) > 0):
            raise Precondition(f"{name}={text!r} is not a whole number of seconds above 0; example: {name}=60")
    for name in IN_HEADERS:
        if not (given.get(name, "").isascii() and given.get(name, "").strip().isprintable()):
            raise Precondition(f"{name} holds characters that an HTTP header cannot carry; check how it was set")
    if "HF_ENDPOINT" in given and not _is_address(given["HF_ENDPOINT"]):
        raise Precondition("HF_ENDPOINT is not an http(s) address; example: HF_ENDPOINT=https://huggingface.co")
    if "HF_TOKEN_PATH" in given and Path(given["HF_TOKEN_PATH"]).is_dir():
        raise Precondition(
            f"HF_TOKEN_PATH={given['HF_TOKEN_PATH']!r} is a folder; name the file of the token, or unset it"
        )
    if "HF_HOME" in given and Path(given["HF_HOME"]).exists() and not Path(given["HF_HOME"]).is_dir():
        raise Precondition(f"HF_HOME={given['HF_HOME']!r} is no folder; name a folder, or unset it")
    # Without it 2.4.0 also asks the hub which tool the environment looks like.
    if "HF_HUB_DISABLE_TELEMETRY" not in given:
        changes["HF_HUB_DISABLE_TELEMETRY"] = "1"
    if trusted := certificates.authorities(given):  # the library's own look is at SSL_CERT_FILE and SSL_CERT_DIR only
        changes["SSL_CERT_DIR" if Path(trusted[0]).is_dir() else "SSL_CERT_FILE"] = trusted[0]
    return changes


def offline() -> str:
    """Return the name of the variable that forbids the network."""
    yes = ("1", "ON", "YES", "TRUE")
    return next((name for name in OFFLINE if os.environ.get(name, "").upper() in yes), OFFLINE[0])


def _blank(name: str, text: str) -> bool:
    return name.startswith(("HF_", "SSL_CERT_")) and not text.strip()


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets without an IPv6 address, a port that is no number
        return False
