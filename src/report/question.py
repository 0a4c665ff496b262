"""One question as the page shows it when it is open: the four stages, what decided, what was delivered.

Plain values and texts safe to show; nothing here knows HTML. What a closed one says is in `evidence`.
"""

import json

from src.base.messages import Translator
from src.base.printable import excerpt, visible
from src.base.records import Result
from src.measures import beyond
from src.report import evidence
from src.report.facts import Facts, establish
from src.report.records import Panel
from src.report.texts import shown
from src.runs.results import CHECKS, meaning, refused_by
from src.wording import check
from src.wording.deliver import REASONS

HEADING_SHOWN = 120  # characters of a question in its heading


def question(result: Result, slow: bool, limit: int, guarded: bool, to: Translator) -> Panel:
    """Return one question for the page; `limit` bounds each of its texts, `guarded` adds the delivered sentence."""
    facts = establish(result)
    compact, raw = _proposal(result, limit)
    heading = excerpt(result["query"], min(limit, HEADING_SHOWN))
    return {
        "id": result["id"],
        "heading": heading,
        "query": shown(result["query"], limit) if heading != result["query"] else None,
        "outcome": facts.outcome,
        "flags": facts.flags(slow),
        "clean": facts.clean,
        "cells": evidence.cells(facts, guarded, to),
        "summary": evidence.summary(facts, to),
        "proposal": compact,
        "proposal_raw": raw,
        "checks": _checks(result, to),
        "other": [visible(ref) for ref in facts.other] if facts.other else None,
        "observation": shown(facts.seen, limit) if facts.seen is not None else None,
        "answer": _marked(facts, limit),
        "answer_language": (facts.judgement and facts.judgement.language) or "",
        "fault_names": facts.faults,
        "faults": [to.gettext(check.FAULTS[name]) for name in facts.faults],
        "delivered": result.get("delivered"),
        "because": _because(facts, to),
        "error": result["error"],
        "error_meaning": meaning(result["error"] or "", to.language),
        "split": beyond.split_ms(result),
        "line": evidence.line(facts, to),
        "detailed": True,
        "there": None,
    }


def _marked(facts: Facts, limit: int) -> list[tuple[str, bool]] | None:
    """Return the model's text in pieces, each with whether no list allows it; a text that is cut has no marks."""
    if facts.result["answer"] is None:
        return None
    raw = facts.result["answer"]["raw"]
    if facts.judgement is None or len(raw) > limit:
        return [(shown(raw, limit), False)]
    pieces: list[tuple[str, bool]] = []
    at = 0
    for start, end in facts.judgement.refused:
        pieces += [(shown(raw[at:start], limit), False), (shown(raw[start:end], limit), True)]
        at = end
    return [piece for piece in [*pieces, (shown(raw[at:], limit), False)] if piece[0]]


def _because(facts: Facts, to: Translator) -> list[str]:
    """Why the guard replaced a sentence when its faults do not say so: only the published marker was missing."""
    given = facts.result.get("delivered")
    reasons = given["reasons"] if given else []
    return [
        to.gettext(REASONS[reason]) if reason in REASONS else visible(reason)
        for reason in reasons
        if reason not in facts.faults
    ]


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


def _checks(result: Result, to: Translator) -> list[tuple[str, str]]:
    """The checks before the database: those that passed, the one that decided, and those no longer reached."""
    decided = refused_by(result) or ("reply" if not result["proposal"] else None)
    if result["trace"] or decided is None:  # without a trace: it passed all of them, and the database could not be read
        return [("passed", _names(CHECKS, to))]
    place = CHECKS.index(decided)
    states = (("passed", CHECKS[:place]), ("refused", (decided,)), ("not reached", CHECKS[place + 1 :]))
    return [(state, _names(names, to)) for state, names in states if names]


def _names(checks: tuple[str, ...], to: Translator) -> str:
    return ", ".join(map(to.gettext, checks))
