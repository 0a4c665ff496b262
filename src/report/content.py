"""What the page of `report` says of the whole run, as plain values: all that `page.html.j2` is given.

Nothing is measured here that `evaluate` measures. `question` prepares one question; how it looks is the template's
business, and nothing here knows HTML.
"""

from collections import Counter
from string import ascii_lowercase

from src.base.messages import N_, Translator
from src.base.records import JsonValue
from src.measures import beyond, published, tables
from src.measures.verdicts import OUTCOMES
from src.report import against, facts, figures, pictures
from src.report.against import Other, lay_beside
from src.report.question import question
from src.report.records import Page
from src.report.texts import TEXT_SHOWN, moment
from src.report.verdict import verdict
from src.runs.records import Run

TEXTS_BUDGET = 200_000  # characters of all texts of one kind
LEAST_SHOWN = 200  # characters of one text, however many questions there are
MANY = 100  # from so many questions on the page has smaller cells and skips what is out of sight
LANGUAGES = {"en": N_("English"), "es": N_("Spanish"), "vi": N_("Vietnamese"), "fr": N_("French")}
STAGES = (N_("proposal"), N_("observation"), N_("sentence"))
DELIVERED = N_("delivered")


def content(run: Run, evaluation: JsonValue, negatives: JsonValue, to: Translator, other: Other | None = None) -> Page:
    """Return everything that the template shows, in the language of `to`; `other` is the run to put beside it."""
    _, results, time = to.gettext, run["results"], beyond.times(run["results"])
    limit = max(LEAST_SHOWN, min(TEXT_SHOWN, TEXTS_BUDGET // len(results)))
    guarded, slowest = any("delivered" in result for result in results), set(time["slowest"]["ids"])
    questions = [question(result, result["id"] in slowest, limit, guarded, to) for result in results]
    beside = lay_beside(questions, run, other, limit, to) if other else None
    measured, said = figures.of_run(run, evaluation, to)
    attempts, said_of_attempts = figures.attempts(run, negatives, to)
    counts = Counter(q["outcome"] for q in questions)
    flags = Counter(flag for q in questions for flag in q["flags"])
    filters = {**facts.FILTERS, **against.FILTERS}
    return {
        "run": run,
        "made": moment(run["provenance"].get("time"), to),
        "language": run["provenance"]["language"],
        "language_name": _(LANGUAGES[run["provenance"]["language"]]),
        "server": run["provenance"]["server"],
        "servers": tables.servers(run["provenance"]["server"], to),
        "figures": measured,
        "not_r3": published.not_r3(run["provenance"]),
        "figures_note": said,
        "negatives": attempts,
        "negatives_note": said_of_attempts,
        "questions": questions,
        "verdict": verdict(questions, measured, to),
        "stages": [_(stage) for stage in (*STAGES, *([DELIVERED] if guarded else []))],
        "guarded": guarded,
        "outcomes": [(key, sign, _(words), counts[key]) for key, (sign, words) in OUTCOMES.items() if counts[key]],
        "signs": {key: (sign, _(words)) for key, (sign, words) in OUTCOMES.items()},
        "filters": [(key, _(words), flags[key]) for key, words in filters.items() if flags[key]],
        "letters": dict(zip((key for key in filters if flags[key]), ascii_lowercase, strict=False)),
        "time": time,
        "split": pictures.split(time, to),
        "bars": pictures.bars(results, time),
        "limit": limit,
        "many": len(results) > MANY,
        "against": beside,
    }
