"""Which questions of a long run have their details on the page: those that went wrong first, as long as there is room.

A page of two million bytes opens at once. The others keep a line with reference and outcome, so that every question can
be found and filtered; no text is cut shorter to make room, and `agent.json` has the whole.
"""

import html
from collections.abc import Iterator

from src.report.records import Panel

PAGE_BYTES = 2_000_000
REST_BYTES = 150_000  # style, script, measures, refusals, conditions
LINE_BYTES = 100  # of a question without details, its bar among the times included, and without its text
MARK_BYTES = 150  # of a question's mark in the strip at the top
DETAILS_BYTES = 700  # of a question's details without its texts
LEAST_BYTES = 200_000  # for details, however many questions there are
STRIP = 2_000  # questions from which on the lines are the strip


def lay_out(questions: list[Panel]) -> None:
    """Set `detailed` of each question, in one pass over them."""
    each = LINE_BYTES + (MARK_BYTES if len(questions) < STRIP else 0)
    lines = sum(_bytes(q["line"]) for q in questions)
    room = max(LEAST_BYTES, PAGE_BYTES - REST_BYTES - each * len(questions) - lines)
    for question in sorted(questions, key=_rank):  # stable: then in the order of the run
        room -= DETAILS_BYTES + sum(map(_bytes, _texts(question)))
        question["detailed"] = room >= 0


def _rank(question: Panel) -> tuple[bool, bool]:
    """Those that came out differently from the other run first, then those that went wrong."""
    return question["there"] is None, question["outcome"] == "right"


def _texts(question: Panel) -> Iterator[str]:
    yield from _own_texts(question)
    if question["there"] is not None:
        yield from _own_texts(question["there"])
        yield " " * DETAILS_BYTES


def _own_texts(question: Panel) -> Iterator[str]:
    yield question["heading"]
    yield question["summary"]
    for text in (question["query"], question["proposal"], question["proposal_raw"], question["observation"]):
        yield text or ""
    yield from (text for text, _ in question["answer"] or ())
    yield from (question["error"] or "", (question["delivered"] or {"text": ""})["text"])


def _bytes(text: str) -> int:
    return len(html.escape(text).encode())
