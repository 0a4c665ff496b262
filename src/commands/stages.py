"""One question on the terminal, stage by stage as each becomes known, with a word on what each is.

Question, proposal, check by the gate, SQL, observation, the model's sentence, and what a customer would see. A stage
that was not reached is not shown; what stopped the question is.
"""

import json
import re
import sqlite3

from src import agent
from src.base import layout
from src.base.messages import N_, translator
from src.base.printable import dumps, excerpt
from src.base.records import Delivered, Language, Reply, Result, Step
from src.measures import verdicts
from src.runs.results import CHECKS, explained, refused_by
from src.wording.asked import form
from src.wording.check import FAULTS
from src.wording.deliver import REASONS

SHOWN = 300  # characters of a foreign text
JUDGED = 2_000  # characters that are searched for repetitions
BLANK = re.compile(r"[ \n]+")  # any other white space is shown as what it is
REPEATED = re.compile(r"(?<!\S)(\S.{6,200}?)(?: \1){2,}(?!\S)", re.DOTALL)  # whole words, three times at least

# The stages in their order, and what each is.
NOTES = {
    N_("question"): "",
    N_("proposal"): N_("what the model suggests; it can do no more than suggest"),
    N_("check"): N_("our code decides: JSON, one of two tools, {form}"),
    N_("SQL"): N_("the only statement there is, ours, on a file opened read-only"),
    N_("observation"): N_("what was read: this is what is true"),
    N_("answer"): N_("the model’s sentence, often in French, as the prompts are"),
    N_("delivered"): N_("what a customer would see"),
    N_("error"): N_("what ended the question"),
}


def collapsed(text: str, more: str = "(the same {n} times more)") -> str:
    """Return a text on one line, what it repeats said once: `No idea. … (the same 7 times more)`. Small models loop."""
    line = BLANK.sub(" ", text)

    def once(loop: re.Match[str]) -> str:
        return f"{loop[1]} … {more.format(n=len(loop[0]) // (len(loop[1]) + 1))}"

    return REPEATED.sub(once, line[:JUDGED]) + line[JUDGED:]


class Stages:
    """The view of one question: give it what `agent.run` tells, then the whole result to `end`."""

    def __init__(self, db: sqlite3.Connection, question: str, language: Language) -> None:
        self._to = translator(language)
        self._ = self._to.gettext
        self._labels = max(layout.cells(self._(name)) for name in NOTES)  # columns
        self._proposed = False
        self._sql: list[str] = []
        db.set_trace_callback(self._sql.append)
        self._show("question", excerpt(question, SHOWN))

    def __call__(self, told: agent.Told) -> None:
        """Show the stage that has just become known; `end` has the whole of what refused or failed."""
        if isinstance(told, Exception):
            return
        if "observation" in told:
            self._read(told)
        else:
            self._show("answer" if self._proposed else "proposal", self._generated(told))
            self._proposed = True

    def end(self, result: Result) -> None:
        """Show what stopped the question, or the verdict on its sentence; and what a customer would get."""
        found = verdicts.faults(result)
        if (check := refused_by(result)) is not None:
            self._show("check", excerpt(explained(result["error"] or "", self._to.language), SHOWN))
            self._verdict("refused", self._("refused by the check: {check}").format(check=self._(check)))
        elif result["error"]:
            self._show("error", excerpt(result["error"], SHOWN))
        elif result["answer"]:
            words = "; ".join(self._(FAULTS[name]) for name in found) or self._("no fault found")
            self._verdict(verdicts.sentence(found), words)
        if (given := result.get("delivered")) is not None:
            self._delivered(given)

    def _read(self, step: Step) -> None:
        self._show("check", "")
        self._verdict("right", self._("passed: {checks}").format(checks=", ".join(map(self._, CHECKS))))
        self._show("SQL", "; ".join(excerpt(statement, SHOWN) for statement in self._sql))
        self._show("observation", excerpt(dumps(step["observation"]), SHOWN))

    def _delivered(self, given: Delivered) -> None:
        self._show("delivered", excerpt(given["text"], SHOWN))
        words = {
            "model": self._("the model’s own sentence"),
            "observation": self._("made from the observation, in place of the model’s sentence"),
        }
        why = "; ".join(self._(REASONS[reason]) for reason in given["reasons"])
        self._verdict("other" if given["source"] == "question" else "right", words.get(given["source"], why))

    def _generated(self, generation: Reply) -> str:
        try:
            text = json.dumps(json.loads(generation["raw"]), ensure_ascii=True)  # the model prints it over five lines
        except (ValueError, RecursionError):
            text = generation["raw"]
        return excerpt(collapsed(text, self._("(the same {n} times more)")), SHOWN)

    def _show(self, name: str, text: str) -> None:
        """One stage: its name and what it is, then what came of it."""
        label = self._(name)
        head = f"  {label}{' ' * (self._labels - layout.cells(label))}  "
        if NOTES[name]:
            what = self._(NOTES[name]).format(form=form())
            layout.put((head, "strong"), (layout.wrapped(what, head).removeprefix(head), "aside"))
            head = " " * layout.cells(head)
        if text:
            layout.put((head, "strong"), layout.wrapped(text, head).removeprefix(head))

    def _verdict(self, outcome: str, words: str) -> None:
        layout.signed(" " * (self._labels + 4), verdicts.mark(outcome), words)
