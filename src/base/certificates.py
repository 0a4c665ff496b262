"""A private certificate authority, named by the usual environment variables; for the model server and for downloads
alike.

The libraries differ: `requests` reads one of these variables, `httpx` and pip another, and each reports a wrong path
in its own way. Standard library only.
"""

import functools
import os
import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path

from src.base.errors import Precondition

NAMES = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "SSL_CERT_DIR")


def authorities(env: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the files and folders of certificates that the variables name; all of them are trusted.

    Raises `Precondition` naming the variable when its file or folder cannot be used.
    """
    return tuple(_checked(name, env[name]) for name in NAMES if env.get(name))


@functools.cache
def _checked(name: str, path: str) -> str:
    try:
        context((path,))
    except OSError as exc:  # ssl.SSLError is one: no certificate in the file
        why = "holds no certificate" if isinstance(exc, ssl.SSLError) else exc.strerror or str(exc)
        raise Precondition(
            f"{name}={path!r} {why}; name a PEM file, or a folder, of certificates, or unset it"
        ) from None
    return path


def context(paths: Sequence[str]) -> ssl.SSLContext:
    """Return a context that verifies a server by the system's certificates and by those of these files and folders."""
    made = ssl.create_default_context()
    for path in paths:
        if Path(path).is_dir():
            made.load_verify_locations(capath=path)
        else:
            made.load_verify_locations(cafile=path)
    return made
