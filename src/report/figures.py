"""What the page shows of `evaluation.json` and `negatives.json`, if they are there, of this form, and of this run."""

from typing import TypeGuard, cast

from src.base.messages import Translator
from src.base.records import JsonValue, Negatives
from src.measures import rows
from src.measures.records import Evaluation, Measure
from src.report.records import Figures
from src.report.texts import duration
from src.runs.records import Run

EVALUATE, NEGATIVES = "python -m src.cli evaluate", "python -m src.cli negatives"


def of_run(run: Run, evaluation: JsonValue, to: Translator) -> tuple[Figures | None, str]:
    """Return the figures of `evaluate` if they are of this run, and else why the page has none."""
    _ = to.gettext
    if evaluation is None:
        why = _("There is no evaluation.json: run {command}, then the report again.")
        return None, why.format(command=EVALUATE)
    try:
        measured = cast(Evaluation, evaluation)
        if measured["provenance"]["run"] != run["provenance"]:
            why = _("evaluation.json measures another run: run {command}, then the report again.")
            return None, why.format(command=EVALUATE)
        return _figures(measured, to), ""
    except (LookupError, TypeError, ValueError, AttributeError):  # whatever somebody else has put in the file
        why = _("evaluation.json is not of this program’s form: run {command}, then the report again.")
        return None, why.format(command=EVALUATE)


def _figures(evaluation: Evaluation, to: Translator) -> Figures:
    """What the page shows of an evaluation; the published figures with their source."""
    ours, block, r3 = evaluation["measures"], evaluation["beyond"], evaluation["published"]
    columns = [side for _, side in rows.sides(block)]
    total = ours["queries"]
    return {
        "source": to.gettext(r3["source"]),
        "made_with": [r3["model"], r3["machine"]],
        "measures": [_measure(key, words, evaluation, to) for key, words in rows.MEASURES],
        "faults": [row._replace(words=to.gettext(row.words)) for row in [*rows.counted(block), *rows.replaced(block)]],
        "shares": [
            (
                to.gettext(words),
                [(to.figure(rows.number(side[key])), _of(side[key], total, to)) for side in columns],
            )
            for key, words in rows.SHARES
        ],
        "guarded": block["delivered"] is not None,
        "right": round(ours["observation_correct"] * total),
    }


def _measure(key: Measure, words: str, evaluation: Evaluation, to: Translator) -> dict[str, str]:
    """One published measure: ours with the count behind a share, and those of the published runs in one text."""
    ours = evaluation["measures"]
    share = not isinstance(ours[key], int) and key != "mean_ms"
    theirs = to.figure(" · ".join(rows.number(theirs[key]) for theirs in evaluation["published"]["runs"]))
    return {
        "key": key,
        "words": to.gettext(words),
        "ours": duration(ours[key], to) if key == "mean_ms" else to.figure(rows.number(ours[key])),
        "of": _of(ours[key], ours["queries"], to) if share else "",
        "theirs": f"{theirs} ms" if key == "mean_ms" else theirs,
    }


def _of(share: float, total: int, to: Translator) -> str:
    return to.gettext("{n} of {total}").format(n=round(share * total), total=total)


def attempts(run: Run, found: JsonValue, to: Translator) -> tuple[Negatives | None, str]:
    """Return the attempts of `negatives`, and what there is to say about their file."""
    _ = to.gettext
    if not _is_negatives(found):
        why = _("There is no negatives.json of this program: run {command}, then the report again.")
        return None, why.format(command=NEGATIVES)
    if found.get("digest_before") != run.get("digest_before"):
        return found, _("The attempts were made on another database than this run’s.")
    return found, ""


def _is_negatives(found: JsonValue) -> TypeGuard[Negatives]:
    """Whether this has what the page shows of the attempts."""
    if not isinstance(found, dict):
        return False
    checks = found.get("checks")
    shapely = isinstance(checks, list) and all(
        isinstance(check, dict) and {"kind", "attempt", "refused", "reason"} <= set(check) for check in checks
    )
    return shapely and {"refused", "attempted", "unchanged"} <= set(found)
