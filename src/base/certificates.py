"""A private certificate authority, named by the usual environment variables; for the model server and for downloads
alike.

The libraries differ: `requests` reads one of these variables, `httpx` and pip another, and each reports a wrong path
in its own way. Standard library only.
"""

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from src.base.errors import Precondition

if TYPE_CHECKING:
    import ssl

NAMES = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "SSL_CERT_DIR")


def authorities(env: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the files and folders of certificates that the variables name; all of them are trusted.

    Raises `Precondition` naming the variable when its file or folder cannot be used.
    """
    return tuple(_checked(name, env[name]) for name in NAMES if env.get(name))


@functools.cache
def _checked(name: str, path: str) -> str:
    import ssl  # only where a variable names something: the commands that need no network import no sockets

    made = context(())
    try:
        _load(made, path)
    except OSError as exc:  # ssl.SSLError is one: no certificate in the file
        why = "holds no certificate" if isinstance(exc, ssl.SSLError) else exc.strerror or str(exc)
        raise Precondition(
            f"{name}={path!r} {why}; name a PEM file, or a folder, of certificates, or unset it"
        ) from None
    return path


def context(paths: Sequence[str]) -> "ssl.SSLContext":
    """Return a context that verifies a server by the system's certificates and by those of these files and folders."""
    import ssl

    try:
        made = ssl.create_default_context()
    except OSError as exc:  # it opens the file that this variable names, and no other that may be missing
        raise Precondition(f"SSLKEYLOGFILE cannot be written ({exc.strerror or exc}); unset it") from None
    for path in paths:
        _load(made, path)
    return made


def _load(made: "ssl.SSLContext", path: str) -> None:
    if Path(path).is_dir():
        made.load_verify_locations(capath=path)
    else:
        made.load_verify_locations(cafile=path)
