"""Results as text for a person: progress, the four stages of a question, tables.

Text from a model or a server is shown with its control characters as escapes, cut to a readable length; the result
files keep all of it.
"""

import re
import sys
import time
from collections.abc import Callable
from itertools import groupby
from typing import Any, TypeVar

from src.base import progress
from src.base.layout import wrapped
from src.base.messages import translator
from src.base.printable import dumps, excerpt, say
from src.base.records import Language, Negatives, Result, Run
from src.runs import results
from src.runs.results import observed, read_another, refused_by

SHOWN = 300  # characters of a model's text
JUDGED = 2_000  # characters that are searched for repetitions
REPEATED = re.compile(r"(.{8,200}?)\1{2,}", re.DOTALL)
LINES_PER_RUN = 30  # plain progress lines for a run of any length

Made = TypeVar("Made")


def observation_line(result: Result) -> str:
    """Sum a result up in a few words, e.g. `REF-000 stock 0`, or `REF-007 stock 9, ASKED REF-012`."""
    seen = observed(result)
    if seen is None:
        return f"{'refused' if refused_by(result) else 'failed'}: {excerpt(result['error'] or '')}"
    other = read_another(result)
    return f"{result['trace'][0]['call']['arguments']['ref']} " + (
        (f"stock {seen['stock']}" if "stock" in seen else "not found") + (f", ASKED {other[0]}" if other else "")
    )


class Progress:
    """A bar on a terminal, plain lines elsewhere; call it with each result."""

    def __init__(self, total: int, done: int = 0) -> None:
        self._total, self._done, self._started = total, done, time.monotonic()
        self._step = max(1, total // LINES_PER_RUN)
        self._bar: Any = None
        if sys.stderr.isatty():
            self._bar = progress.bar(total=total, initial=done, unit="question")

    def __call__(self, result: Result) -> None:
        self._done += 1
        line = observation_line(result)
        if self._bar is not None:
            self._bar.set_postfix_str(line[:40])
            self._bar.update()
        elif self._done % self._step == 0 or self._done == self._total:
            say(f"  {self._done:>{len(str(self._total))}}/{self._total}  {result['seconds']:5.1f} s  {line}")

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()


def with_progress(total: int, done: int, work: Callable[[Progress], Made]) -> Made:
    """Do `work` with its progress shown, and leave the terminal tidy however it ends."""
    progress = Progress(total, done)
    try:
        return work(progress)
    finally:
        progress.close()


def checks(result: Negatives, language: Language = "en") -> str:
    """Return what `negatives` attempted, by kind, with why it was refused or that it was not; then the digests."""
    _ = translator(language).gettext
    lines = []
    for kind, group in groupby(result["checks"], key=lambda check: check["kind"]):
        lines.append(_(kind))
        for check in group:
            why = results.explained(check["reason"], language)
            lines.append(wrapped(dumps(check["attempt"]), "  ", "    "))
            lines.append(wrapped(why if check["refused"] else f"{_('GOT THROUGH')}: {why}", "    ", "      "))
    counts = _("{refused} refused out of {attempted}")
    total = counts.format(refused=result["refused"], attempted=result["attempted"])
    lines.append(f"{total}; {_('database unchanged') if result['unchanged'] else _('database CHANGED')}")
    return "\n".join([*lines, digests(result, language)])


def digests(result: Negatives | Run, language: Language = "en") -> str:
    """Return the two digests one below the other, easy to compare by eye."""
    _ = translator(language).gettext
    before, after = _("before"), _("after")
    width = max(len(before), len(after))
    return f"  {before:<{width}} {result['digest_before']}\n  {after:<{width}} {result['digest_after']}"
