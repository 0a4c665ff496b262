"""The verdict on one answer: right, or which stage went wrong first; the same words on the terminal and on the page.

A sentence without a fault is one in which the checks of `wording` found none, which is not to say that it is true.
"""

from collections.abc import Sequence

from src.base.messages import N_
from src.base.records import Result
from src.runs.results import observed, read_another, refused_by
from src.wording import check

# What became of a question: a sign that needs no colour, and the words of the legend. Hostile questions have no
# reference, hence the last.
OUTCOMES = {
    "right": ("✓", N_("read correctly, no fault found in the model’s sentence")),
    "wording": ("✗", N_("read correctly, a fault in the model’s sentence")),
    "missing": ("∅", N_("read correctly, the model’s sentence lacks the result")),
    "cut": ("…", N_("read correctly, the model’s sentence is cut off, with no other fault found")),
    "other": ("≠", N_("another product was read than the one asked about")),
    "refused": ("■", N_("proposal refused, nothing read")),
    "failed": ("!", N_("the server or the database failed")),
    "unjudged": ("?", N_("a product was read; the question has no reference to compare it with")),
}
# How a terminal may colour a sign, which means the same without it.
STYLES = {
    **dict.fromkeys(OUTCOMES, "bad"),
    "right": "good",
    **dict.fromkeys(("cut", "refused", "unjudged"), "warning"),
}
# The faults of a sentence in as few words as possible, for a line among many.
SHORT = {
    "no_answer": N_("no answer"),
    "cut": N_("cut off"),
    "figure_missing": N_("result missing"),
    "unsupported_number": N_("another number"),
    "zero_as_not_found": N_("0 described as not found"),
    "stock_as_not_found": N_("stock described as not found"),
    "stock_as_none": N_("stock described as none"),
    "not_found_as_stock": N_("unknown product described as a stock"),
    "not_listed": N_("words no list allows"),
    "no_lists": N_("a language without lists"),
}


def mark(outcome: str) -> tuple[str, str]:
    """Return the sign of an outcome and the style in which a terminal may show it."""
    return OUTCOMES[outcome][0], STYLES[outcome]


def faults(result: Result) -> list[str]:
    """Return the faults of the model's sentence as `evaluate` counts them; none where nothing was read."""
    seen, answer = observed(result), result["answer"]
    if seen is None:
        return []
    if answer is None:
        return ["no_answer"]
    return check.faults(answer["raw"], seen, result["trace"][0]["call"]["arguments"]["ref"], answer["finish_reason"])


def outcome(result: Result, found: Sequence[str]) -> str:
    """Return what became of a question, a key of `OUTCOMES`; `found` are the faults of its sentence."""
    if not result["trace"]:
        return "refused" if refused_by(result) else "failed"
    if read_another(result):
        return "other"
    if result["answer"] is None:
        return "failed"
    if "ref" not in result:
        return "unjudged"
    return sentence(found)


def sentence(found: Sequence[str]) -> str:
    """Return the outcome of a sentence with these faults: the worst of them decides, and a cut is the least."""
    if "figure_missing" in found:
        return "missing"
    return "right" if not found else "cut" if list(found) == ["cut"] else "wording"
