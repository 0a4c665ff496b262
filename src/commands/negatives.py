"""`negatives`: the gate and SQLite refuse what they must refuse; no model server is needed.

A negative test succeeds when the forbidden thing fails and the file is unchanged. It shows these refusals, not
that there is no hole: docs/SECURITY.md says what is not covered.
"""

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from src.base.errors import CheckFailed
from src.base.messages import N_
from src.base.printable import storable
from src.base.records import Attempt, Negatives
from src.runs import database, provenance, store
from src.runs.outputs import Outputs
from src.tools import MAX_CALLS, TOOLS, digest, toolcall

WRITE = "UPDATE products SET stock=stock+1"  # changes every row, so that the digest shows it
ALLOWED = {"outil": TOOLS[1], "arguments": {"ref": "REF-000"}}


def _refusal(attempt: Callable[[], object]) -> tuple[bool, str]:
    """Make one forbidden attempt and say whether it was refused, and with which message."""
    try:
        outcome = attempt()
    except ValueError as exc:
        return True, str(exc)
    except sqlite3.OperationalError as exc:
        # Only "read-only" counts as a refusal: a locked or missing table could hide a writable connection.
        return exc.sqlite_errorcode & 0xFF == sqlite3.SQLITE_READONLY, str(exc)
    return False, f"it went through: {outcome!r}"


def _write(db: sqlite3.Connection) -> None:
    with db:  # committed: a write that is rolled back on closing would not show in the digest
        db.execute(WRITE)


def negatives(outputs: Outputs, cases: Sequence[object]) -> tuple[Path, Negatives]:
    """Try each malformed call, one call over the budget and one write; returns the file written and its content.

    What got through is in the content like what was refused: `check` says that it must not be.
    """
    with database.opened(outputs) as db:
        before = digest(outputs.database)
        attempts: list[tuple[str, object, Callable[[], object]]] = [
            *((N_("malformed call"), call, partial(toolcall, db, call)) for call in cases),
            (N_("call budget"), {**ALLOWED, "count": MAX_CALLS}, partial(toolcall, db, ALLOWED, MAX_CALLS)),
            (N_("SQLite write"), WRITE, partial(_write, db)),
        ]
        checks: list[Attempt] = []
        for kind, attempt, action in attempts:
            refused, reason = _refusal(action)
            checks.append({"kind": kind, "attempt": storable(attempt), "refused": refused, "reason": reason})
    after = digest(outputs.database)
    result: Negatives = {
        "provenance": provenance.program(),
        "digest_before": before,
        "digest_after": after,
        "unchanged": before == after,
        "refused": sum(check["refused"] for check in checks),
        "attempted": len(checks),
        "checks": checks,
    }
    return store.write_json(outputs.json("negatives"), result), result


def check(outputs: Outputs, result: Negatives) -> None:
    """Raise `CheckFailed` when something in `result` got through or the database changed."""
    path = outputs.json("negatives")
    if passed := [check["attempt"] for check in result["checks"] if not check["refused"]]:
        raise CheckFailed(f"a forbidden attempt was not refused: {passed[0]}; see {path}")
    if not result["unchanged"]:
        raise CheckFailed(f"{outputs.database} changed during the attempts; see {path}")
