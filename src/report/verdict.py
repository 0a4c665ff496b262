"""The run in a line: how many read correctly, and how many of what went wrong; each count shows its questions."""

from collections import Counter
from collections.abc import Sequence

from src.base.messages import Translator
from src.report.records import Count, Figures, Panel, Verdict

OTHERS_NAMED = 5  # reads of another product that are named at once; the page unfolds the rest
MOST_NAMED = 200  # of a list that unfolds; beyond it the filter shows them


def verdict(questions: Sequence[Panel], figures: Figures | None, to: Translator) -> Verdict:
    """Return what the page says first. `figures` contradict it where the database held other records."""
    right = sum(q["cells"][1][0] == "right" for q in questions)
    others = [q for q in questions if q["other"]]
    by_data = figures["right"] if figures else right
    return {
        "line": line(questions, to),
        "counts": counts(questions, to),
        "others": others[:OTHERS_NAMED],
        "more_others": others[OTHERS_NAMED:MOST_NAMED],
        "others_left": len(others[MOST_NAMED:]),
        "by_data": by_data if by_data != right else None,
    }


def line(questions: Sequence[Panel], to: Translator) -> str:
    """Return how many read correctly, and how many sentences are without a fault."""
    return " · ".join([*read(questions, to), clean(questions, to)])


def read(questions: Sequence[Panel], to: Translator) -> list[str]:
    """Return how many read correctly, and how many nobody can tell."""
    _, total = to.gettext, len(questions)
    right = sum(q["cells"][1][0] == "right" for q in questions)
    unjudged = sum(q["cells"][1][0] == "unjudged" for q in questions)
    said = [_("{n} of {total} read correctly").format(n=right, total=total)] if unjudged < total else []
    if unjudged:
        said.append(_("{n} of {total} read without a reference to compare with").format(n=unjudged, total=total))
    return said


def clean(questions: Sequence[Panel], to: Translator) -> str:
    """Return how many sentences are without a fault."""
    found = sum(q["clean"] for q in questions)
    return to.gettext("{n} of {total} sentences without a fault").format(n=found, total=len(questions))


def counts(questions: Sequence[Panel], to: Translator) -> list[Count]:
    """Return what went wrong, the most frequent first, and what was done about it; a question may count several times.

    Refusals are named even where there are none: that is what the gate is for.
    """
    flags = Counter(flag for q in questions for flag in q["flags"])
    faults = sorted(_faults(flags, to).items(), key=lambda item: -flags[item[0]])
    ends = {
        "refused": to.ngettext("{n} refused", "{n} refused", flags["refused"]),
        "failed": to.ngettext("{n} failed", "{n} failed", flags["failed"]),
        "from_observation": to.ngettext("{n} sentence replaced", "{n} sentences replaced", flags["from_observation"]),
        "from_question": to.ngettext(
            "{n} answered without a stock", "{n} answered without a stock", flags["from_question"]
        ),
    }
    named = [(key, words) for key, words in [*faults, *ends.items()] if flags[key] or key == "refused"]
    return [(key, words.format(n=flags[key]), flags[key]) for key, words in named]


def _faults(flags: Counter[str], to: Translator) -> dict[str, str]:
    """Each fault with a number before it; written out, since a language has its own form for one and for several."""
    ngettext = to.ngettext
    return {
        "cut": ngettext("{n} cut off", "{n} cut off", flags["cut"]),
        "figure_missing": ngettext("{n} without the result", "{n} without the result", flags["figure_missing"]),
        "unsupported_number": ngettext(
            "{n} with another number", "{n} with another number", flags["unsupported_number"]
        ),
        "zero_as_not_found": ngettext(
            "{n} says not found for 0", "{n} say not found for 0", flags["zero_as_not_found"]
        ),
        "stock_as_not_found": ngettext(
            "{n} says not found for a stock", "{n} say not found for a stock", flags["stock_as_not_found"]
        ),
        "stock_as_none": ngettext("{n} says none for a stock", "{n} say none for a stock", flags["stock_as_none"]),
        "not_found_as_stock": ngettext(
            "{n} gives an unknown product a stock", "{n} give an unknown product a stock", flags["not_found_as_stock"]
        ),
        "not_listed": ngettext("{n} with words no list allows", "{n} with words no list allows", flags["not_listed"]),
        "no_lists": ngettext("{n} in a language without lists", "{n} in a language without lists", flags["no_lists"]),
    }
