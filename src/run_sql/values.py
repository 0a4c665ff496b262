"""What SQLite returned, as JSON values of a bounded size.

JSON has no bytes and no infinity: a blob becomes SQLite's own notation `x'00ff'`, an infinity the text
`Infinity` or `-Infinity`, text that is not UTF-8 keeps its place with U+FFFD. Integers stay exact, also those
above 2^53 that a JavaScript reader would round. A cell that is cut says so itself: only such a cell is longer than
MAX_CELL_CHARS. `truncated` is about rows, as in the lesson.
"""

import math
import sqlite3
from typing import TypeAlias

MAX_CELL_CHARS = 2_000  # a paragraph or two; the longest text in Reservo has 38
MAX_NAME_CHARS = 200  # of a column name, which the query itself can make up
MAX_RESULT_CHARS = 100_000  # about 25,000 tokens of a model's context; a row is never split, so the last may exceed
MAX_ERROR_CHARS = 500  # the engine echoes names out of the query
CUT = "…"

JsonValue: TypeAlias = int | float | str | None


def cut(text: str, limit: int) -> str:
    """Return `text`, or its first `limit` characters followed by `…`."""
    return text if len(text) <= limit else text[:limit] + CUT


def shortened(text: str) -> str:
    """Return the text of a cell, or its first MAX_CELL_CHARS characters and how many there were."""
    return text if len(text) <= MAX_CELL_CHARS else f"{text[:MAX_CELL_CHARS]}{CUT} [{len(text)} caracteres]"


def decode(raw: bytes) -> str:
    """Return SQLite's text as str; a byte that is not UTF-8 becomes U+FFFD."""
    return raw.decode("utf-8", "replace")


def plain(value: object) -> JsonValue:
    """Return one cell as a JSON value, e.g. `b"\\x00\\xff"` -> `"x'00ff'"`; TypeError for a type foreign to SQLite."""
    if value is None or isinstance(value, int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    raise TypeError(f"SQLite has no values of type {type(value).__name__}")


def fetch(cursor: sqlite3.Cursor, max_rows: int) -> tuple[list[list[JsonValue]], bool]:
    """Return at most `max_rows` rows, and whether any were left out.

    One row more than asked is read, to know; nothing is read once the rows hold MAX_RESULT_CHARS characters.
    """
    rows: list[list[JsonValue]] = []
    room = MAX_RESULT_CHARS
    for found in cursor:
        if len(rows) == max_rows or room <= 0:
            return rows, True
        row = [shortened(value) if isinstance(value, str) else value for value in map(plain, found)]
        room -= sum(len(str(value)) for value in row)
        rows.append(row)
    return rows, False


def columns(cursor: sqlite3.Cursor) -> list[str]:
    """Return the names of the result's columns, each cut to MAX_NAME_CHARS; equal names stay as they are."""
    return [cut(name, MAX_NAME_CHARS) for name, *_ in cursor.description or ()]
