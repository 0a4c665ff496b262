"""A second run beside the first: which questions came out differently, better or worse, and what else differs."""

from collections.abc import Sequence
from typing import NamedTuple

from src.base.messages import N_, Translator
from src.base.records import JsonValue
from src.measures import compare
from src.measures.records import Change
from src.report import figures, verdict
from src.report.question import question
from src.report.records import Against, Panel
from src.report.texts import moment
from src.runs.differences import shortened
from src.runs.records import Run

FILTERS = {
    "better": N_("better than in the other run"),
    "worse": N_("worse than in the other run"),
    "changed": N_("other words than in the other run"),
}


class Other(NamedTuple):
    """The other run: its record, the name of its folder, and its evaluation if there is one."""

    run: Run
    name: str
    evaluation: JsonValue


def lay_beside(questions: Sequence[Panel], run: Run, other: Other, limit: int, to: Translator) -> Against:
    """Put the other run's result beside each question that came out differently, and sum them up.

    Raises `Precondition` when the two runs did not ask the same questions.
    """
    compared = compare.beside(run, other.run, other.name)
    guarded = any("delivered" in result for result in other.run["results"])
    there = [question(result, False, limit, guarded, to) for result in other.run["results"]]
    changes: dict[int, Change] = {change["id"]: change for change in compared["changed"]}
    for ours, theirs in zip(questions, there, strict=True):
        if ours["id"] in changes or ours["outcome"] != theirs["outcome"]:
            ours["there"] = theirs
            ours["flags"] += _kinds(ours, theirs)
    measured, why = figures.of_run(other.run, other.evaluation, to)
    return {
        "name": other.name,
        "made": moment(other.run["provenance"].get("time"), to),
        "model": other.run["provenance"]["server"]["model"],
        "line": verdict.line(there, to),
        "counts": _counts(questions, to),
        "same": sum(q["there"] is None for q in questions),
        "conditions": [
            (name, *shortened(then, now)) for name, (then, now) in compared["notes"].items() if name != "time"
        ],
        "figures": measured,
        "figures_note": why,
        "outcomes": [theirs["outcome"] for theirs in there],
    }


def _kinds(ours: Panel, theirs: Panel) -> list[str]:
    if ours["clean"] != theirs["clean"]:
        return ["better" if ours["clean"] else "worse"]
    return ["changed"]


def _counts(questions: Sequence[Panel], to: Translator) -> list[tuple[str, str, int]]:
    """How many questions are better, worse, or only different; a question counts once."""
    n = {kind: sum(kind in q["flags"] for q in questions) for kind in FILTERS}
    words = {
        "better": to.ngettext("{n} better", "{n} better", n["better"]),
        "worse": to.ngettext("{n} worse", "{n} worse", n["worse"]),
        "changed": to.ngettext(
            "{n} different, neither better nor worse", "{n} different, neither better nor worse", n["changed"]
        ),
    }
    return [(kind, words[kind].format(n=n[kind]), n[kind]) for kind in FILTERS]
