"""What the page of `report` says: outcomes, filters, the stages of each question, the pictures, as plain values.

Nothing is measured here that `evaluate` measures. How it looks is `report.html.j2`; what is HTML is not known here.
"""

import json
from typing import Any

from src import beyond, guard, runfile, tables, wording
from src.printable import visible
from src.results import CHECKS, observed, refused_by

HEADING_SHOWN = 120  # characters of a question in its heading
TEXT_SHOWN = 2000  # characters of one text on the page; agent.json has the whole
TEXTS_BUDGET = 200_000  # characters of all texts of one kind: a page about 1,000 questions stays under 2 MB
MANY = 100  # questions from which on the page draws smaller cells and leaves out what is not in sight
EVALUATE, NEGATIVES = "python -m src.cli evaluate", "python -m src.cli negatives"

# What became of a question: a name, a sign for those who do not see the colour, and the words of the legend.
OUTCOMES = {
    "right": ("✓", "right read, right sentence of the model"),
    "wording": ("~", "right read, a fault in the model’s sentence"),
    "missing": ("✗", "right read, the model’s sentence lacks the number"),
    "refused": ("⊘", "proposal refused, nothing read"),
    "failed": ("!", "the server or the database failed"),
}
FILTERS = {
    "marker": "missing marker",
    "number": "unsupported number",
    "refused": "refused or failed",
    "slow": "slow (slowest 5 %)",
}


def shown(value: Any, limit: int = TEXT_SHOWN) -> str:
    """Return a value as text for the page: line breaks kept, control characters as escapes, its length bounded."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    cut = f" … ({len(text)} characters; the result file has the whole)" if len(text) > limit else ""
    return "\n".join(visible(line) for line in text[:limit].split("\n")) + cut


def content(run: dict[str, Any], evaluation: dict[str, Any] | None, negatives: dict[str, Any] | None) -> dict[str, Any]:
    """Return everything that the template shows, as plain values."""
    results, time = run["results"], beyond.times(run["results"])
    limit = min(TEXT_SHOWN, TEXTS_BUDGET // len(results))
    questions = [_question(result, result["id"] in time["slowest"]["ids"], limit) for result in results]
    measured, said = _of_this_run(run, evaluation)
    attempts = negatives if negatives is not None and _is_negatives(negatives) else None
    return {
        "run": run,
        "language": run["provenance"]["language"],
        "server": run["provenance"]["server"],
        "evaluation": measured,
        "evaluation_note": said,
        "measure_rows": tables.MEASURES,
        "faults": wording.FAULTS,
        "negatives": attempts,
        "negatives_note": _about_negatives(run, attempts),
        "questions": questions,
        "delivered": _delivered(results),
        "outcomes": [(key, *text, sum(q["outcome"] == key for q in questions)) for key, text in OUTCOMES.items()],
        "signs": OUTCOMES,
        "filters": [(key, text, sum(key in q["flags"] for q in questions)) for key, text in FILTERS.items()],
        "time": time,
        "split": _split(time),
        "bars": _bars(results, time),
        "limit": limit,
        "many": len(results) > MANY,
    }


def _of_this_run(run: dict[str, Any], evaluation: dict[str, Any] | None) -> tuple[dict[str, Any] | None, str]:
    """The evaluation if it is one of this run, and else why the page has none."""
    if evaluation is None:
        return None, f"There is no evaluation.json: run {EVALUATE}, then the report again."
    if not runfile.is_evaluation(evaluation):
        return None, f"evaluation.json is not of this program's form: run {EVALUATE}, then the report again."
    if evaluation.get("provenance", {}).get("run") != run["provenance"]:
        return None, f"evaluation.json measures another run: run {EVALUATE}, then the report again."
    return evaluation, ""


def _delivered(results: list[dict[str, Any]]) -> dict[str, int] | None:
    """How many customers got the model's sentence and how many one from the observation; `None` without the guard."""
    given = [result["delivered"]["source"] for result in results if result.get("delivered")]
    if not any("delivered" in result for result in results):
        return None
    return {source: given.count(source) for source in ("model", "observation")}


def _is_negatives(found: dict[str, Any]) -> bool:
    """Whether this has what the page shows of the attempts."""
    checks = found.get("checks")
    shapely = isinstance(checks, list) and all(
        isinstance(check, dict) and {"kind", "attempt", "refused", "reason"} <= set(check) for check in checks
    )
    return shapely and {"refused", "attempted", "unchanged"} <= set(found)


def _about_negatives(run: dict[str, Any], negatives: dict[str, Any] | None) -> str:
    if negatives is None:
        return f"There is no negatives.json of this program: run {NEGATIVES}, then the report again."
    if negatives.get("digest_before") != run.get("digest_before"):
        return "The attempts were made on another database than this run's."
    return ""


def _question(result: dict[str, Any], slow: bool, limit: int) -> dict[str, Any]:
    """One question as the page shows it: outcome, filter flags, its stages and the check that decided."""
    seen, answer = observed(result), result["answer"]
    ref = result["trace"][0]["call"]["arguments"]["ref"] if seen is not None else ""
    faults = guard.faults(answer, seen, ref) if seen is not None else []
    lacking = answer is None or seen is None or wording.marker(seen) not in answer["raw"]
    outcome = _outcome(result, faults)
    flags = {
        "marker": lacking,
        "number": "unsupported_number" in faults,
        "refused": outcome in ("refused", "failed"),
        "slow": slow,
    }
    return {
        "id": result["id"],
        "heading": shown(result["query"], min(limit, HEADING_SHOWN)),
        "query": shown(result["query"], limit),
        "outcome": outcome,
        "flags": [name for name, is_so in flags.items() if is_so],
        "summary": f"{ref} stock {seen['stock']}" if seen and "stock" in seen else f"{ref} not found" if ref else "",
        "seconds": result["seconds"],
        "proposal": shown(result["proposal"]["raw"], limit) if result["proposal"] else None,
        "checks": _checks(result),
        "observation": shown(seen, limit) if seen is not None else None,
        "answer": shown(answer["raw"], limit) if answer else None,
        "faults": [wording.FAULTS[name] for name in faults],
        "delivered": result.get("delivered"),
        "error": result["error"],
        "split": beyond.split_ms(result),
    }


def _outcome(result: dict[str, Any], faults: list[str]) -> str:
    if not result["trace"]:
        return "refused" if refused_by(result) else "failed"
    if result["answer"] is None:
        return "failed"
    return "missing" if "figure_missing" in faults else "wording" if faults else "right"


def _checks(result: dict[str, Any]) -> list[tuple[str, str]]:
    """The checks on the way to the database that passed, the one that decided, and those not reached any more."""
    if result["trace"]:
        return [("passed", ", ".join(CHECKS))]
    decided = refused_by(result)
    if decided is None:
        decided = "reply"
        if result["proposal"]:  # it passed all of them, and the database could not be read
            return [("passed", ", ".join(CHECKS))]
    place = CHECKS.index(decided)
    states = (("passed", CHECKS[:place]), ("refused", (decided,)), ("not reached", CHECKS[place + 1 :]))
    return [(state, ", ".join(names)) for state, names in states if names]


def _split(time: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of the mean question for the picture: label, ms, share in percent, and where its bar starts."""
    means = time["split_mean_ms"] or {}
    total, start, parts = sum(means.values()) or 1.0, 0.0, []
    for name, words in beyond.SPLIT.items():
        if name in means:
            share = 100 * means[name] / total
            parts.append({"words": words, "ms": means[name], "share": share, "start": start})
            start += share
    return parts


def _bars(results: list[dict[str, Any]], time: dict[str, Any]) -> dict[str, Any]:
    """The questions' times as two SVG paths of bars, the slowest in one of their own, on 100 units of height."""
    highest = max(result["seconds"] for result in results) or 1.0
    slowest = set(time["slowest"]["ids"])
    paths: dict[bool, list[str]] = {False: [], True: []}
    for place, result in enumerate(results):
        height = max(1.0, 100 * result["seconds"] / highest)
        paths[result["id"] in slowest].append(f"M{place}.1 100h.8v-{height:.1f}h-.8z")
    levels = {name: 100 - 100 * time[name] / 1000 / highest for name in ("p50_ms", "p95_ms")}
    return {"others": "".join(paths[False]), "slowest": "".join(paths[True]), "width": len(results), **levels}
