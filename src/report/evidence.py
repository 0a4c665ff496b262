"""What a closed question says of itself: a sign for each stage, and the evidence in a line."""

from src.base.messages import Translator
from src.base.printable import excerpt, visible
from src.measures import verdicts
from src.report.facts import Facts
from src.report.records import Cell
from src.report.texts import duration
from src.runs.results import meaning, refused_by

SAID_SHOWN = 40  # characters of the model's sentence
WHY_SHOWN = 60  # characters of an error
NOT_REACHED = "none"  # the class of a stage that was not reached; its sign is a dash


def cells(facts: Facts, guarded: bool, to: Translator) -> list[Cell]:
    """Return the outcome of each stage, in order; the words are for those who cannot see the sign."""
    found = [_proposal(facts, to), _observation(facts, to), _sentence(facts, to)]
    if guarded:
        found.append(_delivered(facts, to) if facts.source else _not_reached(to))
    return found


def _delivered(facts: Facts, to: Translator) -> Cell:
    _ = to.gettext
    if facts.source == "question":
        words = _("a sentence that gives no stock, since what was read does not answer the question")
        return _cell("other", words)
    replaced = facts.source == "observation"
    words = _("replaced by a sentence from the observation") if replaced else _("the model’s own sentence")
    return _cell("other" if facts.other else "right", words)


def _cell(outcome: str, words: str) -> Cell:
    return (outcome, verdicts.OUTCOMES[outcome][0], words)


def _not_reached(to: Translator) -> Cell:
    return (NOT_REACHED, "–", to.gettext("not reached"))


def _proposal(facts: Facts, to: Translator) -> Cell:
    _ = to.gettext
    if refused := refused_by(facts.result):
        return _cell("refused", _("refused by the check: {check}").format(check=_(refused)))
    return (
        _cell("right", _("passed every check")) if facts.result["proposal"] else _cell("failed", _("no usable reply"))
    )


def _observation(facts: Facts, to: Translator) -> Cell:
    _ = to.gettext
    if facts.seen is None:
        passed = facts.result["proposal"] and not refused_by(facts.result)
        return _cell("failed", _("the database could not be read")) if passed else _not_reached(to)
    if facts.other:
        return _cell(
            "other", visible(_("asked {asked}, read {read}").format(asked=facts.other[0], read=facts.other[1]))
        )
    if "ref" not in facts.result:
        return _cell("unjudged", _(verdicts.OUTCOMES["unjudged"][1]))
    return _cell("right", _("read correctly"))


def _sentence(facts: Facts, to: Translator) -> Cell:
    _ = to.gettext
    if facts.seen is None:
        return _not_reached(to)
    if facts.result["answer"] is None:
        return _cell("failed", _(verdicts.SHORT["no_answer"]))
    return _cell(verdicts.sentence(facts.faults), _named(facts, to))


def _named(facts: Facts, to: Translator) -> str:
    return ", ".join(to.gettext(verdicts.SHORT[name]) for name in facts.faults) or to.gettext("no fault found")


def summary(facts: Facts, to: Translator) -> str:
    """Return the evidence: what was read, what was said of it, what is wrong with that, how long it took."""
    said = _said(facts, to)
    parts = [
        _read(facts, to),
        *([said] if said else []),
        *_wrong(facts, to),
        duration(1000 * facts.result["seconds"], to),
    ]
    return " · ".join(parts)


def line(facts: Facts, to: Translator) -> str:
    """Return the reference and the evidence without the model's words, for a question without details."""
    result = facts.result
    asked = visible(result["ref"]) if "ref" in result else excerpt(result["query"], SAID_SHOWN)
    return " · ".join([asked, _read(facts, to), *_wrong(facts, to)])


def _read(facts: Facts, to: Translator) -> str:
    """What was read, or why nothing was."""
    _ = to.gettext
    if facts.seen is None:
        error, check = facts.result["error"] or "", refused_by(facts.result)
        why = meaning(error, to.language) or excerpt(error, WHY_SHOWN)
        return _("refused ({check}): {why}").format(check=_(check), why=why) if check else _failed(why, to)
    seen = facts.seen
    read = _("stock {stock}").format(stock=seen["stock"]) if "stock" in seen else _("not found")
    if facts.other:
        asked, other = facts.other
        return visible(_("asked {asked}, read {read}").format(asked=asked, read=other)) + f": {read}"
    return visible(read)


def _failed(why: str, to: Translator) -> str:
    return to.gettext("failed: {why}").format(why=why)


def _said(facts: Facts, to: Translator) -> str | None:
    if facts.seen is None or facts.result["answer"] is None:
        return None
    said = " ".join(facts.result["answer"]["raw"].split(maxsplit=SAID_SHOWN))
    cut = "…" if len(said) > SAID_SHOWN else ""
    return to.gettext("said “{text}”").format(text=visible(said[:SAID_SHOWN].rstrip()) + cut)


def _wrong(facts: Facts, to: Translator) -> list[str]:
    """What is wrong with the sentence, and whether it was replaced; nothing where nothing was read."""
    if facts.seen is None:
        return []
    why = excerpt(facts.result["error"] or "", WHY_SHOWN)
    named = _named(facts, to) + (f": {why}" if facts.result["answer"] is None else "")
    return [named, *([to.gettext("replaced")] if facts.source not in ("model", None) else [])]
