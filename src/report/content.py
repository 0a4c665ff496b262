"""What the page of `report` says of the whole run: verdict, measures, filters and pictures, as plain values.

Nothing is measured here that `evaluate` measures. One question is `question`, how it looks `page.html.j2`;
what is HTML is not known here.
"""

from collections import Counter
from datetime import UTC, datetime
from typing import Any, Literal, TypeGuard, cast

from src.base.records import JsonValue, Negatives, Result, Run
from src.measures import beyond, tables
from src.measures.records import Beyond, Evaluation, Times
from src.measures.tables import number
from src.report.question import FILTERS, OUTCOMES, SHORT, TEXT_SHOWN, duration, question, shown
from src.report.records import Bars, Panel, Part, Verdict
from src.runs import runfile
from src.wording import check

TEXTS_BUDGET = 200_000  # characters of all texts of one kind, unless the page grows too large with them
MANY = 100  # questions from which on the page draws smaller cells and leaves out what is not in sight
FREQUENT = 2  # faults that the verdict names
OTHERS_NAMED = 5  # reads of another product that it names
EVALUATE, NEGATIVES = "python -m src.cli evaluate", "python -m src.cli negatives"
LANGUAGES = {"en": "English", "es": "Spanish", "vi": "Vietnamese", "fr": "French"}
STAGES = ("proposal", "observation", "sentence")


def content(
    run: Run,
    evaluation: JsonValue,
    negatives: JsonValue,
    budget: int = TEXTS_BUDGET,
) -> dict[str, object]:
    """Return everything that the template shows, as plain values; `budget` in characters bounds each kind of text."""
    results, time = run["results"], beyond.times(run["results"])
    limit = min(TEXT_SHOWN, budget // len(results))
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
        "evaluation": measured,
        "evaluation_note": said,
        "measure_rows": _measures(measured) if measured else [],
        "fault_rows": _fault_rows(measured["beyond"]) if measured else [],
        "share_rows": _share_rows(measured) if measured else [],
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
    """Return an ISO time as `30 November 2026, 16:46 UTC`; anything else as it stands."""
    try:
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return shown(value) if value else ""
    if at.tzinfo is None:
        return shown(value)
    at = at.astimezone(UTC)
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def _verdict(results: list[Result], questions: list[Panel], evaluation: Evaluation | None) -> Verdict:
    """The run in a line: how many were read right, worded without a fault, refused; what went wrong most often."""
    total = len(questions)
    right = sum(q["cells"][1][0] == "right" for q in questions)
    unjudged = sum(q["cells"][1][0] == "unjudged" for q in questions)
    counts = Counter(q["outcome"] for q in questions)
    said = [f"{right} of {total} read right"] if unjudged < total else []
    said += [f"{unjudged} of {total} read without a reference to compare with"] if unjudged else []
    said += [
        f"{sum(q['clean'] for q in questions)} of {total} worded without a fault found",
        f"{counts['refused']} refused",
    ]
    said += [f"{counts['failed']} failed"] if counts["failed"] else []
    words = {**SHORT, "cut": check.FAULTS["cut"]}
    frequent = Counter(name for q in questions for name in q["fault_names"]).most_common(FREQUENT)
    others = [q for q in questions if q["other"]]
    by_data = round(evaluation["measures"]["observation_correct"] * total) if evaluation else right
    replaced = sum("replaced" in q["flags"] for q in questions)
    return {
        "line": " · ".join(said),
        "frequent": ", ".join(f"{words[name]} ({count})" for name, count in frequent),
        "others": others[:OTHERS_NAMED],
        "others_left": len(others) - len(others[:OTHERS_NAMED]),
        "replaced": replaced if any("delivered" in result for result in results) else None,
        "by_data": by_data if by_data != right else None,
    }


def _of_this_run(run: Run, evaluation: JsonValue) -> tuple[Evaluation | None, str]:
    """The evaluation if it is one of this run, and else why the page has none."""
    if evaluation is None:
        return None, f"There is no evaluation.json: run {EVALUATE}, then the report again."
    if not runfile.is_evaluation(evaluation):
        return None, f"evaluation.json is not of this program’s form: run {EVALUATE}, then the report again."
    measured = cast(Evaluation, evaluation)
    if measured["provenance"]["run"] != run["provenance"]:
        return None, f"evaluation.json measures another run: run {EVALUATE}, then the report again."
    return measured, ""


def _measures(evaluation: Evaluation) -> list[dict[str, str]]:
    """The published measures: ours with the count behind a share, and those of the published runs in one text."""
    ours, rows = evaluation["measures"], []
    for key, words in tables.MEASURES:
        share = not isinstance(ours[key], int) and key != "mean_ms"
        published = " · ".join(number(theirs[key]) for theirs in evaluation["published"]["runs"])
        rows.append(
            {
                "key": key,
                "words": words,
                "ours": duration(ours[key]) if key == "mean_ms" else number(ours[key]),
                "of": _of(ours[key], ours["queries"]) if share else "",
                "theirs": f"{published} ms" if key == "mean_ms" else published,
            }
        )
    return rows


def _of(share: float, total: int) -> str:
    return f"{round(share * total)} of {total}"


def _fault_rows(block: Beyond) -> list[tuple[str, list[int | None], list[int]]]:
    """The counts of the second block: words, the count of each column, the questions concerned."""
    sides = [side for side in (block["model"], block["delivered"]) if side is not None]
    other = block["another_product"]
    rows: list[tuple[str, list[int | None], list[int]]] = [
        (tables.ANOTHER_PRODUCT, [other["count"] for _ in sides], other["ids"])
    ]
    only = [side["observation_only"] for side in sides]
    rows.append((tables.OBSERVATION_ONLY, [side["count"] for side in only], only[0]["ids"]))
    for name, words in check.FAULTS.items():
        rows.append((words, [side["faults"][name]["count"] for side in sides], sides[0]["faults"][name]["ids"]))
    differs: list[int | None] = [side["marker_differs"]["count"] for side in sides]
    rows.append(("marker and whole number disagree", differs, sides[0]["marker_differs"]["ids"]))
    if block["delivered"] is not None:
        replaced = block["delivered"]["from_observation"]
        rows.append(("sentences made from the observation", [None, replaced["count"]], replaced["ids"]))
    return rows


def _share_rows(evaluation: Evaluation) -> list[tuple[str, list[tuple[str, str]]]]:
    """The shares of the second block, each with its count."""
    block, total = evaluation["beyond"], evaluation["measures"]["queries"]
    sides = [side for side in (block["model"], block["delivered"]) if side is not None]
    rows: tuple[tuple[str, Literal["whole_number_present", "marker_present"]], ...] = (
        ("with the stock as a whole number", "whole_number_present"),
        ("with the published marker", "marker_present"),
    )
    return [(words, [(number(side[key]), _of(side[key], total)) for side in sides]) for words, key in rows]


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
