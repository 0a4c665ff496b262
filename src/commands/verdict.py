"""What `reproduce` says at its end, in a few lines: the verdict on the run, what to do next, and the page last."""

from collections.abc import Sequence
from pathlib import Path

from src.base import layout
from src.base.messages import translator
from src.base.printable import say
from src.base.records import Language, Negatives, Result
from src.measures import tables, verdicts
from src.measures.records import Evaluation
from src.report import verdict as of_page
from src.report.question import question
from src.runs.outputs import Outputs

TEXT_SHOWN = 200  # characters; the texts themselves are not shown


def verdict(results: Sequence[Result], attempts: Negatives, evaluation: Evaluation, language: Language) -> None:
    """Say what was read, what was refused, and what the sentences are worth, and of whose run that is."""
    to = translator(language)
    _ = to.gettext
    panels = [question(result, False, TEXT_SHOWN, False, to) for result in results]
    unchanged = _("database unchanged") if evaluation["unchanged"] else _("database CHANGED")
    layout.put("\n", (_("The verdict"), "strong"))
    right = evaluation["measures"]["observation_correct"] == 1
    layout.signed("  ", verdicts.mark("right" if right else "other"), "; ".join([*of_page.read(panels, to), unchanged]))
    forbidden = _("forbidden attempts: {refused} refused out of {attempted}")
    layout.signed("  ", verdicts.mark("right"), forbidden.format(**attempts))
    clean = all(panel["clean"] for panel in panels)
    faults = ", ".join(words for key, words, _n in of_page.counts(panels, to) if key != "refused")
    sentences = "; ".join(filter(None, [of_page.clean(panels, to), faults]))
    layout.signed("  ", verdicts.mark("right" if clean else "wording"), sentences)
    if right and not clean:
        why = _("Right data does not make a right sentence: hence the code decides what a customer sees.")
        say(layout.wrapped(why, "  "))
    say(tables.heading(evaluation, language, "  "))


def next_steps(parent: Outputs, folder: Path, language: Language) -> None:
    """Say what to do after the last run in `folder`: the exercise by hand, and, last, the page to look at."""
    _ = translator(language).gettext
    steps = [parent.command("exercise", *([] if language == "en" else ["--lang", language]))]
    if not parent.database.exists():
        steps.insert(0, parent.command("prepare"))
    say("\n" + layout.wrapped(_("Next, predict and compare, by hand and without a model:")))
    say("\n".join(f"  {step}" for step in steps))
    page = folder / "report.html"
    if page.exists():
        say("\n" + layout.wrapped(_("Every question with its stages, on a page to open in a browser:")))
    say(str(page if page.exists() else folder))
