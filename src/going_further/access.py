"""Two decisions about every call, both before any SQL: may this caller use the tool, and may it see the row?

A well-formed call that is not allowed is answered exactly like one about a row that does not exist: whoever asks learns
nothing about what exists. The decision says which of the two it was, for the log; a malformed call is a third case.
"""

import sqlite3
from dataclasses import dataclass
from typing import Any, cast

from src.going_further import low_stock
from src.going_further.callers import NOBODY, Caller
from src.going_further.records import Seen
from src.tools import toolcall

ALLOWED, NOT_FOUND, NOT_ALLOWED, MALFORMED = "allowed", "not found", "not allowed", "malformed"
DECISIONS = (ALLOWED, NOT_FOUND, NOT_ALLOWED, MALFORMED)
NO_TOOL, NO_REFERENCE = "tool not given to this caller", "reference not given to this caller"


@dataclass(frozen=True)
class Decision:
    """What became of a call; `observation` is all that the caller and the model get, `None` for a malformed call."""

    decision: str
    reason: str
    observation: Seen | None


class _NotAllowed(Exception):
    """The caller lacks a right; the text says which."""


class _Door:
    """Takes the place of the database in `toolcall()`: its one statement passes if the caller may see the row.

    `toolcall()` gets here only with a well-formed call, so the form is checked once, and by R3's own gate.
    """

    def __init__(self, db: sqlite3.Connection, caller: Caller, call: Any) -> None:
        self.db, self.caller, self.call = db, caller, call

    def execute(self, statement: str, values: tuple[str]) -> sqlite3.Cursor:
        _check_tool(self.caller, self.call["outil"])
        (reference,) = values
        if reference not in self.caller.references:
            raise _NotAllowed(NO_REFERENCE)
        return self.db.execute(statement, values)


def _check_tool(caller: Caller, tool: str) -> None:
    if tool not in caller.tools:
        raise _NotAllowed(NO_TOOL)


def decide(db: sqlite3.Connection, call: Any, caller: Caller = NOBODY) -> Decision:
    """Decide about a proposed call for a caller, and read what is allowed; raises only `sqlite3.Error`, on reading.

    For `shop-north` REF-000 is allowed and REF-059 is not; `NOBODY` is allowed nothing, whichever of the three tools.
    """
    try:
        if low_stock.names_it(call):
            most = low_stock.threshold(call)
            _check_tool(caller, low_stock.TOOL)
            low = low_stock.read(db, most, caller.references)
            rows = len(low["products"])
            return Decision(ALLOWED if rows else NOT_FOUND, f"rows: {rows}", low)
        seen = toolcall(cast(sqlite3.Connection, _Door(db, caller, call)), call)
    except ValueError as exc:
        return Decision(MALFORMED, str(exc), None)
    except _NotAllowed as exc:
        return Decision(NOT_ALLOWED, str(exc), {"products": []} if low_stock.names_it(call) else {"found": False})
    if "stock" in seen:
        return Decision(ALLOWED, "rows: 1", seen)
    return Decision(NOT_FOUND, "rows: 0", seen)
