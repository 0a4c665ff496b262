"""One question as the page of `report` shows it: outcome, filter flags, summary line, stages and what decided.

A stage is right, wrong or not reached; the outcome names the stage that went wrong first. Plain values and texts
safe to show; nothing here knows HTML. A sentence without a fault is one in which the checks of `wording` found none,
which is not to say that it is true.
"""

import json

from src.base.printable import excerpt, visible
from src.base.records import Delivered, Result
from src.measures import beyond, verdicts
from src.report.records import Cell, Panel
from src.runs.results import CHECKS, observed, read_another, refused_by
from src.wording import check
from src.wording.deliver import REASONS

HEADING_SHOWN = 120  # characters of a question in its heading
SAID_SHOWN = 40  # characters of the model's sentence in the line of a closed question
WHY_SHOWN = 60  # characters of an error there
TEXT_SHOWN = 2000  # characters of one text on the page; agent.json has the whole

FILTERS = {
    "other": "another product read",
    "marker": "published marker missing",
    "missing": "number missing",
    "number": "another number",
    "cut": "cut",
    "replaced": "replaced",
    "refused": "refused or failed",
    "slow": "slow (slowest 5 %)",
}
NOT_REACHED: Cell = ("none", "–", "not reached")


def shown(value: object, limit: int = TEXT_SHOWN) -> str:
    """Return a value as text for the page: line breaks kept, control characters as escapes, its length bounded."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    cut = f" … ({len(text)} characters; the result file has the whole)" if len(text) > limit else ""
    return "\n".join(visible(line) for line in text[:limit].split("\n")) + cut


def duration(milliseconds: float) -> str:
    """Return a time for a person, with a non-breaking space: `8.1 s`, `247 ms`, `0.4 ms`."""
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.1f}\u00a0s"
    return f"{milliseconds:.0f}\u00a0ms" if milliseconds >= 10 else f"{milliseconds:.1f}\u00a0ms"


def question(result: Result, slow: bool, limit: int, guarded: bool) -> Panel:
    """Return one question for the page; `limit` bounds each of its texts, `guarded` adds the delivered sentence."""
    faults, other = verdicts.faults(result), read_another(result)
    outcome = verdicts.outcome(result, faults)
    compact, raw = _proposal(result, limit)
    heading = excerpt(result["query"], min(limit, HEADING_SHOWN))
    return {
        "id": result["id"],
        "heading": heading,
        "query": shown(result["query"], limit) if heading != result["query"] else None,
        "outcome": outcome,
        "flags": _flags(result, faults, other, slow),
        "clean": observed(result) is not None and not faults and other is None,
        "cells": _cells(result, faults, other, guarded),
        "summary": " · ".join(_summary(result, faults, other)),
        "proposal": compact,
        "proposal_raw": raw,
        "checks": _checks(result),
        "other": [visible(ref) for ref in other] if other else None,
        "observation": shown(observed(result), limit) if observed(result) is not None else None,
        "answer": _marked(result, limit),
        "fault_names": faults,
        "faults": [check.FAULTS[name] for name in faults],
        "delivered": result.get("delivered"),
        "because": _because(result, faults),
        "error": result["error"],
        "split": beyond.split_ms(result),
        "line": f"{visible(result['ref']) if 'ref' in result else excerpt(result['query'], SAID_SHOWN)} · "
        f"{_said_in_short(result, faults, other)}",
        "detailed": True,
    }


def _said_in_short(result: Result, faults: list[str], other: tuple[str, str] | None) -> str:
    """The evidence without the model's words: what was read and what is wrong, or why nothing was read."""
    parts = _summary(result, faults, other)
    return " · ".join(part for part in parts[:-1] if not part.startswith("said “"))


def _marked(result: Result, limit: int) -> list[tuple[str, bool]] | None:
    """Return the model's text in pieces, each with whether no list allows it; a text that is cut has no marks."""
    if result["answer"] is None:
        return None
    raw, seen = result["answer"]["raw"], observed(result)
    if seen is None or len(raw) > limit:
        return [(shown(raw, limit), False)]
    pieces: list[tuple[str, bool]] = []
    at = 0
    for start, end in check.judge(raw, seen, result["trace"][0]["call"]["arguments"]["ref"]).refused:
        pieces += [(shown(raw[at:start], limit), False), (shown(raw[start:end], limit), True)]
        at = end
    return [piece for piece in [*pieces, (shown(raw[at:], limit), False)] if piece[0]]


def _because(result: Result, faults: list[str]) -> list[str]:
    """Why the guard replaced a sentence when its faults do not say so: only the published marker was missing."""
    given = result.get("delivered")
    reasons = given["reasons"] if given else []
    return [visible(REASONS.get(reason, reason)) for reason in reasons if reason not in faults]


def _flags(result: Result, faults: list[str], other: tuple[str, str] | None, slow: bool) -> list[str]:
    seen, answer, given = observed(result), result["answer"], result.get("delivered")
    flags = {
        "other": other is not None,
        "marker": answer is None or seen is None or not check.has_marker(answer["raw"], seen),
        "missing": "figure_missing" in faults,
        "number": "unsupported_number" in faults,
        "cut": "cut" in faults,
        "replaced": given is not None and given["source"] != "model",
        "refused": answer is None,
        "slow": slow,
    }
    return [name for name, is_so in flags.items() if is_so]


def _cell(outcome: str, words: str) -> Cell:
    return (outcome, verdicts.OUTCOMES[outcome][0], words)


def _cells(result: Result, faults: list[str], other: tuple[str, str] | None, guarded: bool) -> list[Cell]:
    """The outcome of each stage, in order; the words are for those who cannot see the sign."""
    refused, given = refused_by(result), result.get("delivered")
    if refused:
        first = _cell("refused", f"refused by the check: {refused}")
    elif result["proposal"]:
        first = _cell("right", "passed every check")
    else:
        first = _cell("failed", "no usable reply")
    cells = [first, _read_cell(result, other, first[0]), _sentence_cell(result, faults)]
    if guarded:
        cells.append(_delivered_cell(given, other) if given else NOT_REACHED)
    return cells


def _delivered_cell(given: Delivered, other: tuple[str, str] | None) -> Cell:
    if given["source"] == "question":
        return _cell("other", "a sentence that gives no stock, since what was read does not answer the question")
    replaced = given["source"] == "observation"
    words = "replaced by a sentence from the observation" if replaced else "the model’s own sentence"
    return _cell("other", f"{words}, about another product") if other else _cell("right", words)


def _read_cell(result: Result, other: tuple[str, str] | None, before: str) -> Cell:
    if observed(result) is None:
        return _cell("failed", "the database could not be read") if before == "right" else NOT_REACHED
    if other:
        return _cell("other", visible(f"asked {other[0]}, read {other[1]}"))
    return _cell("right", "read correctly") if "ref" in result else _cell("unjudged", verdicts.OUTCOMES["unjudged"][1])


def _sentence_cell(result: Result, faults: list[str]) -> Cell:
    if observed(result) is None:
        return NOT_REACHED
    if result["answer"] is None:
        return _cell("failed", verdicts.SHORT["no_answer"])
    return _cell(verdicts.sentence(faults), _named(faults) or "no fault found")


def _named(faults: list[str]) -> str:
    return ", ".join(verdicts.SHORT[name] for name in faults)


def _summary(result: Result, faults: list[str], other: tuple[str, str] | None) -> list[str]:
    """The evidence in a line: what was read, what was said of it, what is wrong with that, how long it took."""
    seen, answer, why = observed(result), result["answer"], excerpt(result["error"] or "", WHY_SHOWN)
    parts = []
    if seen is None:
        check = refused_by(result)
        parts.append(f"refused ({check}): {why}" if check else f"failed: {why}")
    else:
        read = f"stock {seen['stock']}" if "stock" in seen else "not found"
        parts.append(visible(f"asked {other[0]}, read {other[1]}: {read}" if other else read))
        if answer:
            said = " ".join(answer["raw"].split(maxsplit=SAID_SHOWN))
            parts.append(f"said “{visible(said[:SAID_SHOWN].rstrip())}{'…' if len(said) > SAID_SHOWN else ''}”")
        parts.append((_named(faults) or "no fault found") + ("" if answer else f": {why}"))
    if "replaced" in _flags(result, faults, other, False):
        parts.append("replaced")
    return [*parts, duration(1000 * result["seconds"])]


def _proposal(result: Result, limit: int) -> tuple[str | None, str | None]:
    """The proposal on one line if that changes only white space, and then as it was written as well."""
    if not result["proposal"]:
        return None, None
    raw = result["proposal"]["raw"]
    try:
        compact = json.dumps(json.loads(raw), ensure_ascii=False)
    except (ValueError, RecursionError):
        return shown(raw, limit), None
    same = compact == raw or "".join(compact.split()) != "".join(raw.split())
    return (shown(raw, limit), None) if same else (shown(compact, limit), shown(raw, limit))


def _checks(result: Result) -> list[tuple[str, str]]:
    """The checks before the database: those that passed, the one that decided, and those no longer reached."""
    decided = refused_by(result) or ("reply" if not result["proposal"] else None)
    if result["trace"] or decided is None:  # without a trace: it passed all of them, and the database could not be read
        return [("passed", ", ".join(CHECKS))]
    place = CHECKS.index(decided)
    states = (("passed", CHECKS[:place]), ("refused", (decided,)), ("not reached", CHECKS[place + 1 :]))
    return [(state, ", ".join(names)) for state, names in states if names]
