"""The log of decisions: one JSON line for each, append-only, on the disk before anything is answered.

A line holds time, caller, call, decision and reason, and nothing the customer wrote: of a malformed call, which may
hold any text, only the reason is kept. The program cannot rewrite a line; whoever may write the file can. Where that
matters, send the lines to another machine.
"""

import os
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from src.base import disk, shell
from src.base.errors import Precondition
from src.base.printable import dumps, loads
from src.going_further.access import DECISIONS, MALFORMED, Decision
from src.going_further.callers import Caller
from src.going_further.records import Entry
from src.runs import store

FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW  # append whatever others write; follow no link
FIELDS = {"time", "caller", "call", "decision", "reason"}


class DecisionLog:
    """The log in one file, made with the first decision."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, caller: Caller, call: Any, decision: Decision) -> None:
        """Append one line and force it to the disk; `Precondition` if that fails, so that nothing goes unrecorded."""
        entry: Entry = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "caller": caller.name,
            "call": None if decision.decision == MALFORMED else call,
            "decision": decision.decision,
            "reason": decision.reason,
        }
        line = (dumps(entry) + "\n").encode()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, FLAGS, 0o600)
            try:
                size = os.fstat(handle).st_size
                if size and os.pread(handle, 1, size - 1) != b"\n":  # a crash cut the last line; keep this one whole
                    line = b"\n" + line
                if os.write(handle, line) != len(line):
                    raise OSError("the disk is full")
                disk.sync(handle)
            finally:
                os.close(handle)
        except OSError as exc:
            raise Precondition(
                f"{self.path} cannot be written ({exc.strerror or exc}); without a record nothing is answered"
            ) from None

    def read(self) -> tuple[list[Entry], int]:
        """Return the decisions, oldest first, and the number of lines that are not one: cut by a crash, or not ours."""
        try:
            lines = store.read_bytes(self.path).split(b"\n")
        except FileNotFoundError:
            raise Precondition(
                f"{self.path} is missing; make a decision first, see: "
                f"{shell.command('-m', 'src.going_further', 'call', '--help')}"
            ) from None
        read = [_entry(line) for line in lines if line]
        whole = [entry for entry in read if entry is not None]
        return whole, len(read) - len(whole)


def _entry(line: bytes) -> Entry | None:
    try:
        found = loads(line)
    except (ValueError, RecursionError):
        return None
    whole = type(found) is dict and set(found) == FIELDS and found["decision"] in DECISIONS
    return cast(Entry, found) if whole else None


def counts(decisions: Iterable[str]) -> str:
    """Return e.g. `allowed 10, not found 0, not allowed 20, malformed 0`."""
    counted = Counter(decisions)
    return ", ".join(f"{name} {counted[name]}" for name in DECISIONS)
