"""The files in `outputs/`: written whole or not at all, and a journal that survives a kill.

A JSON file is built beside its final name and renamed over it; the journal gains one line per finished question,
each forced to the disk. Standard library only.
"""

import contextlib
import errno
import hashlib
import itertools
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from src.base import disk, exits
from src.base.errors import Precondition
from src.base.printable import dumps, finite, loads
from src.base.records import JsonValue

LINE = re.compile(rb'\{"sha256":"([0-9a-f]{64})","entry":(.*)\}', re.DOTALL)  # of the journal: an entry, its checksum


def write_text(path: Path, text: str) -> Path:
    """Put `text` under `path` in one step: a reader finds the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    try:
        with draft.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            disk.sync(file.fileno())
        draft.replace(path)
        disk.sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)
    return path


def write_json(path: Path, value: object) -> Path:
    """Write `value` as indented JSON with a final newline, atomically; returns the path."""
    return write_text(path, dumps(value, indent=2) + "\n")


def write_next(path: Path, value: object) -> Path:
    """Write `value` as `write_json` does, under `path` or, where that is taken, the first free of `NAME-002`, ..."""
    for number in itertools.count(1):
        free = path if number == 1 else path.with_stem(f"{path.stem}-{number:03d}")
        with contextlib.suppress(FileExistsError):
            free.open("x").close()  # so that of two programs each gets its own
            break
    try:
        return write_json(free, value)
    except OSError:
        free.unlink()
        raise


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a regular file.

    Raises `OSError` for anything else: reading a pipe would block, and a device never ends.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):  # before it is a file of Python's, which names a folder by a number
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    with os.fdopen(handle, "rb") as file:
        return file.read()


def read_json(path: Path, remedy: str) -> JsonValue:
    """Return what a JSON file holds; `Precondition` says that it is missing or damaged, and the remedy."""
    try:
        return loads(read_bytes(path).decode("utf-8-sig"), number=finite)  # an editor's byte order mark says nothing
    except FileNotFoundError:
        raise Precondition(f"{path} is missing; {remedy}") from None
    except OSError as exc:
        raise Precondition(f"{path} cannot be read ({exc.strerror or exc}); {exits.advice(exc)}") from None
    except (UnicodeDecodeError, ValueError, RecursionError) as exc:
        raise Precondition(f"{path} cannot be read ({exc}); {remedy}") from None


class Journal:
    """An append-only file of JSON lines: a header that says what is being run, then one line per finished question.

    Each line carries the SHA-256 of its entry's bytes: a flipped bit can leave a line well-formed and wrong.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, most: int | None = None) -> list[JsonValue]:
        """Return the entries, `most` of them if it is given; `None` for each line that a crash or a fault damaged."""
        try:
            text = read_bytes(self.path)
        except FileNotFoundError:
            return []
        return [_entry(line) for line in [line for line in text.split(b"\n") if line][:most]]

    @contextlib.contextmanager
    def exclusive(self, note: Callable[[str], object]) -> Iterator[None]:
        """Hold the journal's folder; remove temporary files a killed run left.

        Raises `Precondition` when another program holds it; `note` is told where there are no locks.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        taken = f"another run is writing {self.path}; wait for it or use --outputs"
        with disk.exclusive(self.path.parent, taken, note):
            for draft in self.path.parent.glob(f".{self.path.stem.partition('.')[0]}.*.tmp"):
                draft.unlink(missing_ok=True)
            yield

    @contextlib.contextmanager
    def writing(self, entries: Iterable[object]) -> Iterator["Journal"]:
        """Start the file afresh with `entries`, then accept more."""
        write_text(self.path, "".join(map(_line, entries)))
        with self.path.open("ab", buffering=0) as self._file:
            yield self

    def append(self, entry: object) -> None:
        """Add one line and force it to the disk: after this a power cut does not lose it; inside `writing()` only."""
        line = _line(entry).encode()
        if self._file.write(line) != len(line):  # the disk filled up within the line
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        disk.sync(self._file.fileno())


def _line(entry: object) -> str:
    body = dumps(entry)
    return f'{{"sha256":"{hashlib.sha256(body.encode()).hexdigest()}","entry":{body}}}\n'


def _entry(line: bytes) -> JsonValue:
    parts = LINE.fullmatch(line)
    if parts is None or hashlib.sha256(parts[2]).hexdigest().encode() != parts[1]:
        return None
    try:
        return loads(parts[2], number=finite)
    except (ValueError, RecursionError):
        return None
