"""`negatives` and `exercise`: what must be refused is refused, by the gate and by SQLite; no model server is needed.

A negative test succeeds when the forbidden thing fails and the file is unchanged. It shows these refusals, not the
absence of every hole: docs/SECURITY.md says what is not covered.
"""

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from src import provenance, store
from src.errors import CheckFailed
from src.outputs import Outputs
from src.tools import MAX_CALLS, TOOLS, digest, toolcall

WRITE = "UPDATE products SET stock=stock+1"  # harmless if refused, visible in the digest if not
ALLOWED = {"outil": TOOLS[1], "arguments": {"ref": "REF-000"}}


def _refusal(attempt: Callable[[], object]) -> dict[str, Any]:
    """Make one forbidden attempt and say whether it was refused, and with which words."""
    try:
        outcome = attempt()
    except ValueError as exc:
        return {"refused": True, "reason": str(exc)}
    except sqlite3.OperationalError as exc:
        # Only read-only access counts as a refusal; a locked or missing table would hide a writable connection.
        return {"refused": exc.sqlite_errorcode & 0xFF == sqlite3.SQLITE_READONLY, "reason": str(exc)}
    return {"refused": False, "reason": f"it went through: {outcome!r}"}


def negatives(outputs: Outputs, cases: Sequence[Any]) -> tuple[Path, dict[str, Any]]:
    """Try each malformed call, one call over the budget and one write; returns the file written and its content.

    Raises `CheckFailed`, after writing the file, when something got through or the database changed.
    """
    db = outputs.open_database()
    before = digest(outputs.database)
    attempts: list[tuple[str, Any, Callable[[], object]]] = [
        *(("malformed call", call, partial(toolcall, db, call)) for call in cases),
        ("call budget", {**ALLOWED, "count": MAX_CALLS}, partial(toolcall, db, ALLOWED, MAX_CALLS)),
        ("SQLite write", WRITE, partial(db.execute, WRITE)),
    ]
    checks = [{"kind": kind, "attempt": attempt, **_refusal(action)} for kind, attempt, action in attempts]
    db.close()
    after = digest(outputs.database)
    result = {
        "provenance": provenance.program(),
        "digest_before": before,
        "digest_after": after,
        "unchanged": before == after,
        "refused": sum(check["refused"] for check in checks),
        "attempted": len(checks),
        "checks": checks,
    }
    path = store.write_json(outputs.json("negatives"), result)
    if passed := [check["attempt"] for check in checks if not check["refused"]]:
        raise CheckFailed(f"a forbidden attempt was not refused: {passed[0]}; see {path}")
    if before != after:
        raise CheckFailed(f"{outputs.database} changed during the attempts; see {path}")
    return path, result


PREDICTIONS = (
    ("Is REF-000 not found, because its stock is 0?", "it is found; its stock is 0"),
    ("Is REF-999 a product that is out of stock?", "it is not a product: no row was read"),
    ("A proposal names another tool: what refuses it?", "toolcall(), before any SQL, whatever the name"),
)


def exercise(outputs: Outputs, cases: Sequence[Any]) -> tuple[Path, dict[str, Any]]:
    """Take the tutorial's three questions through the gate: REF-000, REF-999, and the first call of `cases`.

    Returns the file written and its content. Raises `CheckFailed` when an observation is not the one to expect.
    """
    calls = [ALLOWED, {"outil": TOOLS[1], "arguments": {"ref": "REF-999"}}, cases[0]]
    db = outputs.open_database()
    steps = []
    for (question, expected), call in zip(PREDICTIONS, calls, strict=True):
        step: dict[str, Any] = {"question": question, "call": call, "expected": expected}
        try:
            step["observation"] = toolcall(db, call)
        except ValueError as exc:
            step["observation"], step["refusal"] = None, str(exc)
        steps.append(step)
    db.close()
    result = {"provenance": provenance.program(), "digest": digest(outputs.database), "steps": steps}
    path = store.write_json(outputs.json("exercise"), result)
    found, unknown, forbidden = (step["observation"] for step in steps)
    if not (found and found.get("stock") == 0 and unknown == {"found": False} and forbidden is None):
        raise CheckFailed(f"an observation is not the one to expect; see {path}")
    return path, result
