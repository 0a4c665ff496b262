"""How two sets of conditions differ, in a few words."""

from collections.abc import Mapping, Sequence

from src.base.printable import dumps

MOST = 6  # differences named in one line; another server differs in fifty
SHOWN = 80  # characters of a value in a line about a difference
BEFORE = 20  # of them before the place where two long values diverge


def differing(
    there: Mapping[str, object], here: Mapping[str, object], names: Sequence[str]
) -> list[tuple[str, object, object]]:
    """Return what differs among these conditions, e.g. `("server.slots", 1, 4)`; a missing one counts as None."""
    found: list[tuple[str, object, object]] = []
    for name in names:
        theirs, ours = there.get(name), here.get(name)
        if isinstance(theirs, dict) and isinstance(ours, dict) and theirs and ours:
            inner = differing(theirs, ours, list({**theirs, **ours}))
            found += [(f"{name}.{key}", then, now) for key, then, now in inner]
        elif theirs != ours:
            found.append((name, theirs, ours))
    return found


def listed(found: Sequence[tuple[str, object, object]]) -> str:
    """Say the differences that `differing` found, the first few: `server.slots: 1 there, 4 here; and 3 more`."""
    more = [f"and {len(found) - MOST} more"] if len(found) > MOST else []
    return "; ".join([*(in_words(*each) for each in found[:MOST]), *more])


def in_words(name: str, there: object, here: object) -> str:
    """Say one difference in a few words: `server.slots: 1 there, 4 here`."""
    then, now = shortened(there, here)
    return f"{name}: {then} there, {now} here"


def shortened(there: object, here: object) -> tuple[str, str]:
    """Return two values as texts, long ones from where they diverge."""
    then, now = dumps(there), dumps(here)
    if max(len(then), len(now)) <= SHOWN:
        return then, now
    same = next((place for place, (a, b) in enumerate(zip(then, now, strict=False)) if a != b), 0)
    return _from(then, same), _from(now, same)


def _from(text: str, same: int) -> str:
    start = max(0, same - BEFORE)
    return f"{'…' * (start > 0)}{text[start : start + SHOWN]}{'…' * (start + SHOWN < len(text))}"
