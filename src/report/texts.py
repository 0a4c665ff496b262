"""Single texts of the page: foreign ones made safe, times and durations for a person, lists of words."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from src.base.messages import Translator
from src.base.printable import visible

TEXT_SHOWN = 2000  # characters of one text on the page; agent.json has the whole


def shown(value: object, limit: int = TEXT_SHOWN) -> str:
    """Return a value as text for the page: line breaks kept, control characters as escapes, its length bounded."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    cut = f" … [+{len(text) - limit} → agent.json]" if len(text) > limit else ""
    return "\n".join(visible(line) for line in text[:limit].split("\n")) + cut


def duration(milliseconds: float, to: Translator) -> str:
    """Return a time for a person, with a non-breaking space: `8.1 s`, `247 ms`, `0.4 ms`; in Spanish `8,1 s`."""
    if milliseconds >= 1000:
        return to.figure(f"{milliseconds / 1000:.1f}\u00a0s")
    return to.figure(f"{milliseconds:.0f}\u00a0ms" if milliseconds >= 10 else f"{milliseconds:.1f}\u00a0ms")


def moment(value: Any, to: Translator) -> str:
    """Return an ISO time as `30 November 2026, 16:46 UTC` in the reader's language; anything else unchanged."""
    try:
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return shown(value) if value else ""
    if at.tzinfo is None:
        return shown(value)
    at, _ = at.astimezone(UTC), to.gettext
    months = _("January, February, March, April, May, June, July, August, September, October, November, December")
    named = months.split(", ")[at.month - 1]
    return _("{day} {month} {year}, {time} UTC").format(day=at.day, month=named, year=at.year, time=f"{at:%H:%M}")


def listed(texts: Sequence[str], to: Translator) -> str:
    """Return texts as `a, b and c`."""
    *most, last = texts
    return to.gettext("{most} and {last}").format(most=", ".join(most), last=last) if most else last
