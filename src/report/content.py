"""What the page of `report` says of the whole run: verdict, measures, filters and pictures, as plain values.

Nothing is measured here that `evaluate` measures. `question` prepares one question, `page.html.j2` decides how it
looks; nothing here knows HTML.
"""

from collections import Counter
from datetime import UTC, datetime
from typing import Any, TypeGuard, cast

from src.base.records import JsonValue, Negatives, Result, Run
from src.measures import beyond, published, rows
from src.measures.records import Evaluation, Measure, Times
from src.measures.verdicts import OUTCOMES, SHORT
from src.report.question import FILTERS, TEXT_SHOWN, duration, question, shown
from src.report.records import Bars, Figures, Page, Panel, Part, Verdict

TEXTS_BUDGET = 200_000  # characters of all texts of one kind
LEAST_SHOWN = 200  # characters of one text, however many questions there are
MANY = 100  # from so many questions on the page has smaller cells and skips what is out of sight
FREQUENT = 2  # faults that the verdict names
OTHERS_NAMED = 5  # reads of another product that it names
EVALUATE, NEGATIVES = "python -m src.cli evaluate", "python -m src.cli negatives"
LANGUAGES = {"en": "English", "es": "Spanish", "vi": "Vietnamese", "fr": "French"}
STAGES = ("proposal", "observation", "sentence")


def content(run: Run, evaluation: JsonValue, negatives: JsonValue) -> Page:
    """Return everything that the template shows, as plain values."""
    results, time = run["results"], beyond.times(run["results"])
    limit = max(LEAST_SHOWN, min(TEXT_SHOWN, TEXTS_BUDGET // len(results)))
    guarded, slowest = any("delivered" in result for result in results), set(time["slowest"]["ids"])
    questions = [question(result, result["id"] in slowest, limit, guarded) for result in results]
    measured, said = _of_this_run(run, evaluation)
    attempts = negatives if _is_negatives(negatives) else None
    counts = Counter(q["outcome"] for q in questions)
    flags = Counter(flag for q in questions for flag in q["flags"])
    return {
        "run": run,
        "made": moment(run["provenance"].get("time")),
        "language": run["provenance"]["language"],
        "language_name": LANGUAGES[run["provenance"]["language"]],
        "server": run["provenance"]["server"],
        "figures": measured,
        "not_r3": published.not_r3(run["provenance"]),
        "figures_note": said,
        "negatives": attempts,
        "negatives_note": _about_negatives(run, attempts),
        "questions": questions,
        "verdict": _verdict(results, questions, measured),
        "stages": (*STAGES, "delivered") if guarded else STAGES,
        "outcomes": [(key, *OUTCOMES[key], counts[key]) for key in OUTCOMES if counts[key]],
        "signs": OUTCOMES,
        "filters": [(key, text, flags[key]) for key, text in FILTERS.items() if guarded or key != "replaced"],
        "time": time,
        "split": _split(time),
        "bars": _bars(results, time),
        "limit": limit,
        "many": len(results) > MANY,
    }


def moment(value: Any) -> str:
    """Return an ISO time as `30 November 2026, 16:46 UTC`; anything else unchanged."""
    try:
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return shown(value) if value else ""
    if at.tzinfo is None:
        return shown(value)
    at = at.astimezone(UTC)
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def _verdict(results: list[Result], questions: list[Panel], figures: Figures | None) -> Verdict:
    """The run in a line: how many read correctly, sentences without a fault, refusals; what went wrong most often."""
    total = len(questions)
    right = sum(q["cells"][1][0] == "right" for q in questions)
    unjudged = sum(q["cells"][1][0] == "unjudged" for q in questions)
    counts = Counter(q["outcome"] for q in questions)
    said = [f"{right} of {total} read correctly"] if unjudged < total else []
    said += [f"{unjudged} of {total} read without a reference to compare with"] if unjudged else []
    said += [
        f"{sum(q['clean'] for q in questions)} of {total} sentences without a fault",
        f"{counts['refused']} refused",
    ]
    said += [f"{counts['failed']} failed"] if counts["failed"] else []
    frequent = Counter(name for q in questions for name in q["fault_names"]).most_common(FREQUENT)
    others = [q for q in questions if q["other"]]
    by_data = figures["right"] if figures else right
    replaced = sum("replaced" in q["flags"] for q in questions)
    return {
        "line": " · ".join(said),
        "frequent": ", ".join(f"{SHORT[name]} ({count})" for name, count in frequent),
        "others": others[:OTHERS_NAMED],
        "others_left": len(others) - len(others[:OTHERS_NAMED]),
        "replaced": replaced if any("delivered" in result for result in results) else None,
        "by_data": by_data if by_data != right else None,
    }


def _of_this_run(run: Run, evaluation: JsonValue) -> tuple[Figures | None, str]:
    """The figures of `evaluate` if they are of this run, and else why the page has none."""
    if evaluation is None:
        return None, f"There is no evaluation.json: run {EVALUATE}, then the report again."
    try:
        measured = cast(Evaluation, evaluation)
        if measured["provenance"]["run"] != run["provenance"]:
            return None, f"evaluation.json measures another run: run {EVALUATE}, then the report again."
        return _figures(measured), ""
    except (LookupError, TypeError, ValueError, AttributeError):  # whatever somebody else has put in the file
        return None, f"evaluation.json is not of this program’s form: run {EVALUATE}, then the report again."


def _figures(evaluation: Evaluation) -> Figures:
    """What the page shows of an evaluation; the published figures with their source."""
    ours, block, r3 = evaluation["measures"], evaluation["beyond"], evaluation["published"]
    columns = [side for _, side in rows.sides(block)]
    total = ours["queries"]
    return {
        "source": f"{r3['source']}, {r3['model']} on an {r3['machine']}",
        "measures": [_measure(key, words, evaluation) for key, words in rows.MEASURES],
        "faults": [*rows.counted(block), *rows.replaced(block)],
        "shares": [
            (words, [(rows.number(side[key]), _of(side[key], total)) for side in columns]) for key, words in rows.SHARES
        ],
        "guarded": block["delivered"] is not None,
        "right": round(ours["observation_correct"] * total),
    }


def _measure(key: Measure, words: str, evaluation: Evaluation) -> dict[str, str]:
    """One published measure: ours with the count behind a share, and those of the published runs in one text."""
    ours = evaluation["measures"]
    share = not isinstance(ours[key], int) and key != "mean_ms"
    theirs = " · ".join(rows.number(theirs[key]) for theirs in evaluation["published"]["runs"])
    return {
        "key": key,
        "words": words,
        "ours": duration(ours[key]) if key == "mean_ms" else rows.number(ours[key]),
        "of": _of(ours[key], ours["queries"]) if share else "",
        "theirs": f"{theirs} ms" if key == "mean_ms" else theirs,
    }


def _of(share: float, total: int) -> str:
    return f"{round(share * total)} of {total}"


def _is_negatives(found: JsonValue) -> TypeGuard[Negatives]:
    """Whether this has what the page shows of the attempts."""
    if not isinstance(found, dict):
        return False
    checks = found.get("checks")
    shapely = isinstance(checks, list) and all(
        isinstance(check, dict) and {"kind", "attempt", "refused", "reason"} <= set(check) for check in checks
    )
    return shapely and {"refused", "attempted", "unchanged"} <= set(found)


def _about_negatives(run: Run, negatives: Negatives | None) -> str:
    if negatives is None:
        return f"There is no negatives.json of this program: run {NEGATIVES}, then the report again."
    if negatives.get("digest_before") != run.get("digest_before"):
        return "The attempts were made on another database than this run's."
    return ""


def _split(time: Times) -> list[Part]:
    """The parts of the mean question for the picture: label, ms, share in percent, and where its bar starts."""
    means = time["split_mean_ms"] or {}
    total, start = sum(means.values()) or 1.0, 0.0
    parts: list[Part] = []
    for name, words in beyond.SPLIT.items():
        if name in means:
            share = 100 * means[name] / total
            parts.append({"words": words, "ms": means[name], "share": share, "start": start})
            start += share
    return parts


def _bars(results: list[Result], time: Times) -> Bars:
    """The questions' times as two SVG paths of bars, the slowest in one of their own, on 100 units of height."""
    highest = max(result["seconds"] for result in results) or 1.0
    slowest = set(time["slowest"]["ids"])
    paths: dict[bool, list[str]] = {False: [], True: []}
    for place, result in enumerate(results):
        height = max(1.0, 100 * result["seconds"] / highest)
        paths[result["id"] in slowest].append(f"M{place}.1 100h.8v-{height:.1f}h-.8z")
    return {
        "others": "".join(paths[False]),
        "slowest": "".join(paths[True]),
        "width": len(results),
        "p50_ms": 100 - 100 * time["p50_ms"] / 1000 / highest,
        "p95_ms": 100 - 100 * time["p95_ms"] / 1000 / highest,
    }
