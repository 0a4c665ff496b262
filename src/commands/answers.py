"""A line for each answer as it comes: a sign, its number, what was read, and what is wrong with the sentence.

The words and signs are those of the page. A long run shows a bar on a terminal instead, and a status line now and then
elsewhere.
"""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from src.base import layout, progress
from src.base.messages import translator
from src.base.printable import note
from src.base.records import Language, Result
from src.measures import verdicts
from src.report import evidence, facts

EACH = 100  # questions, up to which each has a line
LINES_PER_RUN = 30  # status lines of a longer run

Made = TypeVar("Made")


class Answers:
    """Shows a run of `total` questions, `done` of which are answered already; call it with each further result."""

    def __init__(self, total: int, done: int, language: Language) -> None:
        self._total, self._done, self._to = total, done, translator(language)
        self._bar: Any = None
        if total > EACH and sys.stderr.isatty():
            self._bar = progress.bar(total=total, initial=done, unit="question")

    def __call__(self, result: Result) -> None:
        self._done += 1
        if self._bar is not None:
            self._bar.update()
        elif self._total <= EACH:
            self._line(result)
        elif self._done % (self._total // LINES_PER_RUN) == 0 or self._done == self._total:
            note(f"{self._done}/{self._total} questions")

    def _line(self, result: Result) -> None:
        found = facts.establish(result)
        number = f"{result['id']:>{len(str(self._total))}}"
        layout.signed("  ", verdicts.mark(found.outcome), f"{number}  {evidence.line(found, self._to)}")

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()


def shown(total: int, done: int, language: Language, work: Callable[[Answers], Made]) -> Made:
    """Do `work` with its answers shown, and leave the terminal tidy however it ends."""
    answers = Answers(total, done, language)
    try:
        return work(answers)
    finally:
        answers.close()
