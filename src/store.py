"""The files in `outputs/`: written whole or not at all, and a journal that survives a kill.

A JSON file is built beside its final name and renamed over it; the journal gains one line per finished question,
each forced to the disk. Standard library only.
"""

import contextlib
import fcntl
import json
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from src.errors import Precondition

LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def dumps(value: Any, indent: int | None = None) -> str:
    """Return `value` as readable JSON that every reader accepts and that loads back equal.

    Subtle: a model may write a lone surrogate, which UTF-8 cannot carry; it stays the `\\udXXX` escape it was. NaN,
    which JSON does not know, raises `ValueError`.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def write_text(path: Path, text: str) -> Path:
    """Put `text` under `path` in one step: a reader finds the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with draft.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def write_json(path: Path, value: Any) -> Path:
    """Write `value` as indented JSON with a final newline, atomically; returns the path."""
    return write_text(path, dumps(value, indent=2) + "\n")


def read_json(path: Path, remedy: str) -> Any:
    """Return what a JSON file holds; `Precondition` says that it is missing or damaged, and the remedy."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Precondition(f"{path} is missing; {remedy}") from None
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as exc:
        raise Precondition(f"{path} cannot be read ({exc}); {remedy}") from None


class Journal:
    """An append-only file of JSON lines: a header that says what is being run, then one line per finished question."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: Any = None

    def read(self) -> list[Any]:
        """Return the whole lines; one cut by a crash is left out, since its question was not finished on disk."""
        try:
            lines = self.path.read_bytes().split(b"\n")[:-1]  # what follows the last newline is incomplete
        except FileNotFoundError:
            return []
        entries = []
        for line in lines:
            try:
                entries.append(json.loads(line))
            except ValueError:
                break
        return entries

    @contextlib.contextmanager
    def writing(self, entries: list[Any]) -> Iterator["Journal"]:
        """Start the file anew with `entries` and hold it; `Precondition` when another program holds it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_suffix(".lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Precondition(f"another run is writing {self.path}; wait for it or use --outputs") from None
            write_text(self.path, "".join(dumps(entry) + "\n" for entry in entries))
            with self.path.open("a", encoding="utf-8") as self._file:
                yield self

    def append(self, entry: Any) -> None:
        """Add one line and force it to the disk: after this a power cut does not lose it."""
        self._file.write(dumps(entry) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
