"""Foreign text made safe to show, with unprintable characters as escapes; and strict JSON, read and written.

A model may write control characters, escape sequences and marks that reverse the direction of a line; none of them may
reach a terminal. Standard library only.
"""

import json
import math
import os
import re
import shlex
import sys
from collections.abc import Callable
from typing import NoReturn

from src.base.records import JsonValue

EXCERPT = 200  # characters of foreign text in one of our messages
# What stands for our signs and marks where the terminal's encoding lacks them; the signs stay apart from each other.
ASCII = str.maketrans("✓✗∅≠■’“”«»–—·", '+x0/#\'""""---') | str.maketrans({"…": "...", "→": "->"})
UNUSUAL = re.compile("[^\n -~]")  # all but printable ASCII and the line ends of the indentation


def visible(text: str) -> str:
    """Return `text` with each character that is not printable as its escape, e.g. ESC as `\\x1b`."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def in_ascii(exc: UnicodeError) -> tuple[str, int]:
    """Say what a stream cannot encode (for `codecs.register_error`): our signs by others, the rest as escapes."""
    if not isinstance(exc, UnicodeEncodeError):
        raise exc
    lacking = exc.object[exc.start : exc.end]
    return lacking.translate(ASCII).encode("ascii", "backslashreplace").decode(), exc.end


def is_question(text: str) -> bool:
    """Say whether a person's text can be asked: not empty, and without a byte that was no UTF-8 where it came in."""
    return bool(text.strip()) and not any("\ud800" <= character <= "\udfff" for character in text)


def shown(text: str) -> str:
    """Return `text` made safe for a terminal, with its line breaks."""
    return "\n".join(map(visible, text.split("\n")))


def quoted(text: str) -> str:
    """Return `text` as one word of a command line: what is not printable as `$'...'`, which a shell reads back."""
    if text.isprintable():
        return shlex.quote(text)
    escaped = "".join(
        c if c.isprintable() and c not in "\\'" else "".join(f"\\x{byte:02x}" for byte in os.fsencode(c)) for c in text
    )
    return f"$'{escaped}'"


def say(text: str) -> None:
    """Print a result, made safe, and flush, so that a pipe or a log shows it while the work goes on."""
    print(shown(text), flush=True)


def note(text: str) -> None:
    """Print what is going on, made safe, on stderr: whoever takes the results from stdout gets nothing else."""
    print(shown(text), file=sys.stderr, flush=True)


def excerpt(text: str, limit: int = EXCERPT) -> str:
    """Return the start of a foreign text on one line, its control and direction characters as escapes."""
    return visible(text[:limit]) + (f"… ({len(text)} characters)" if len(text) > limit else "")


def dumps(value: object, indent: int | None = None) -> str:
    """Return `value` as readable JSON that every parser accepts, that loads back equal, and that is safe on a terminal.

    Subtle: a lone surrogate, which UTF-8 cannot carry, becomes a `\\uXXXX` escape like everything else that is not
    printable. NaN, which JSON does not know, raises `ValueError`.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return UNUSUAL.sub(lambda match: match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1], text)


def storable(value: object) -> object:
    """Return `value`, or its `repr()` where JSON cannot hold it: a reader's own call in `cases` may be anything."""
    try:
        dumps(value)
    except (TypeError, ValueError, RecursionError):
        return repr(value)
    return value


def loads(
    text: str | bytes,
    pairs: Callable[[list[tuple[str, JsonValue]]], JsonValue] | None = None,
    number: Callable[[str], float] | None = None,
) -> JsonValue:
    """Return the JSON value in `text`, each object made by `pairs` of its keys and values, each fraction by `number`.

    Raises `ValueError` for NaN and Infinity too, which JSON does not know, and `RecursionError` for deep nesting.
    """
    value: JsonValue = json.loads(text, object_pairs_hook=pairs, parse_constant=_no_constant, parse_float=number)
    return value


def finite(digits: str) -> float:
    """Return a number that can be written as JSON again; `ValueError` for 1e999, which Python reads as infinity."""
    value = float(digits)
    return value if math.isfinite(value) else _no_constant(digits)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
