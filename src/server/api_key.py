"""The key between client and server, in a file that holds nothing else: a Swarm secret, or any other file.

The format is llama.cpp's (`--api-key-file`): one key a line. A server takes each of them, a client sends the first.
No message and no command line holds a key, since others can read both.
"""

from pathlib import Path

from src.base.errors import Precondition

MOST = 4096  # bytes; a larger file was named by mistake


def read(path: str, named: str) -> list[str]:
    """Return the keys in the file at `path`; `named` is the variable or option that gave it.

    Raises `Precondition` for a file that cannot be read, holds no key, or holds what no HTTP header can carry.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST + 1)
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path
        reason = getattr(exc, "strerror", None) or exc
        raise Precondition(f"{named}={path}: {reason}; name a file that holds the key") from None
    keys = [line.strip() for line in content.decode("latin-1").splitlines() if line.strip()]
    if not keys or len(content) > MOST or not all(fits_a_header(key) for key in keys):
        raise Precondition(f"{named}={path}: no key file; it holds one key a line, in printable ASCII and no spaces")
    return keys


def fits_a_header(key: str) -> bool:
    """Whether the key can be sent: `Authorization: Bearer KEY`."""
    return key.isascii() and key.isprintable() and " " not in key
