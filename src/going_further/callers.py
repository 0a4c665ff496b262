"""Who is asking and what they may do: which tools they may use, which references they may see. By default, nothing.

The rights come from our own file, the name from the program (a session, a token): never from the question or the
model, which would repeat whatever name a customer types.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from src.base.errors import Precondition
from src.base.paths import ROOT, near
from src.going_further import low_stock
from src.runs import store
from src.tools import REFERENCE, TOOLS

CALLERS = near(ROOT / "data" / "callers.json")
ALL_TOOLS = (*TOOLS, low_stock.TOOL)
REMEDY = "restore it from the repository or name another file with --callers"


@dataclass(frozen=True)
class Caller:
    """A caller's rights. Both sets list what is allowed; nothing else is."""

    name: str = "nobody"
    tools: frozenset[str] = frozenset()
    references: frozenset[str] = frozenset()


NOBODY = Caller()


def load(path: Path = CALLERS) -> dict[str, Caller]:
    """Return the callers of a file by name; `Precondition` when it holds a right that does not exist."""
    found: Any = store.read_json(path, REMEDY)
    try:
        return {name: _caller(name, rights) for name, rights in found["callers"].items()}
    except (KeyError, TypeError, AttributeError, ValueError) as exc:
        raise Precondition(f"{path} does not hold callers ({exc}); {REMEDY}") from None


def _caller(name: str, rights: Any) -> Caller:  # as the file has them
    tools, first, last = rights["tools"], rights["first"], rights["last"]
    if set(rights) != {"tools", "first", "last"} or type(tools) is not list or not set(tools) <= set(ALL_TOOLS):
        raise ValueError(f"{name}: tools must be some of {', '.join(ALL_TOOLS)}")
    if not REFERENCE.fullmatch(first) or not REFERENCE.fullmatch(last):
        raise ValueError(f"{name}: first and last must be references such as REF-000")
    if first > last:
        raise ValueError(f"{name}: {first} comes after {last}")
    numbers = range(int(first[4:]), int(last[4:]) + 1)
    return Caller(name, frozenset(tools), frozenset(f"REF-{number:03d}" for number in numbers))


def named(name: str | None, path: Path = CALLERS) -> Caller:
    """Return one caller, `NOBODY` for no name; `Precondition` for a name that the file does not know."""
    if name is None:
        return NOBODY
    known = load(path)
    if name not in known:
        raise Precondition(f"no caller {name!r} in {path}; there are: {', '.join(known)}")
    return known[name]
