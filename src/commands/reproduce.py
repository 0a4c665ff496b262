"""`reproduce`: the route in one go, in a new folder per run: one question in full, then all, refusals, measures, page.

Two runs on one machine must give the same proposals and answers, word for word; any difference is shown.
"""

import contextlib
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from src import evaluate
from src.base import layout
from src.base.errors import CheckFailed, Interrupted, Precondition, interruption
from src.base.messages import translator
from src.base.printable import note, say
from src.base.records import Language, Negatives
from src.commands import answers, ask, exercise, negatives, prepare, route, verdict
from src.commands.route import Route
from src.measures import compare, tables
from src.measures.records import Evaluation
from src.report import render
from src.runs import record, recovery, runfile, session, store
from src.runs.outputs import Outputs
from src.runs.records import Run


def new_folder(parent: Path) -> Path:
    """Make and return the next free `run-001`, `run-002`, ... below `parent`."""
    parent.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        folder = parent / f"run-{number:03d}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            break
    return folder


class Made(NamedTuple):
    """One run of the whole route: its folder and the contents of the result files shown at the end."""

    folder: Path
    run: Run
    negatives: Negatives
    evaluation: Evaluation


def run_once(outputs: Outputs, asked: Route, cases: Sequence[object], finish: str, *, full: bool) -> Made:
    """Run the whole route once into `outputs`, or what is missing of it; `finish` is the command that does so later.

    `full` begins with one question in full.
    """
    note(f"== results go to {outputs.folder}")
    with recovery.exclusive(outputs, note):
        if not outputs.json("prepare").exists():
            for begun in (outputs.database, outputs.shop):  # of this run, which was killed before it had recorded them
                begun.unlink(missing_ok=True)
            prepare.prepare(outputs, asked.data)
        if outputs.shop.exists():  # made of a reader's own products
            asked = asked._replace(data=outputs.shop)
        path = _questions(outputs, asked, finish, full)
    _, attempts = negatives.negatives(outputs, cases)
    negatives.check(outputs, attempts)
    _, evaluation = evaluate.evaluate_run(outputs, asked.data)
    last: dict[str, Callable[[], object]] = {
        "exercise": lambda: exercise.check(
            *exercise.exercise(outputs, cases, say=lambda _: None, language=asked.language)
        ),
        "report": lambda: render.report(outputs),
    }
    for what, make in last.items():
        try:
            make()
        except Precondition as exc:  # the run is complete without them
            note(f"no {what}: {exc}")
    return Made(outputs.folder, runfile.read(path, "run reproduce again"), attempts, evaluation)


def _questions(outputs: Outputs, asked: Route, finish: str, full: bool) -> Path:
    """Ask the questions, or those that an interrupted run left; returns the path of the run."""
    path = outputs.json("agent")
    if path.exists() and not outputs.journal.exists():
        record.check(runfile.read(path, finish), outputs)
        return path
    run = session.begin(outputs, asked.data, asked.language, note)
    run.finish = finish
    if outputs.journal.exists():
        recovery.resume(run, note)
    elif full:
        _first(run)
    return answers.shown(len(run.questions), run.kept, asked.language, lambda answer: session.work(run, answer))


def _first(run: session.Run) -> None:
    """Show the first question in full, before a line for each: what the thirty are about is seen at once."""
    _ = translator(run.identity["language"]).gettext
    layout.put("\n", (layout.wrapped(_("One question in full, stage by stage as each becomes known:")), "strong"))
    ask.shown(run.outputs, run.questions[0]["query"], run.identity["language"], guarded=True)
    each = _("Now all {n}, a line for each; ✓ is read correctly and no fault found:")
    layout.put("\n", (layout.wrapped(each.format(n=len(run.questions))), "strong"))


def reproduce(parent: Outputs, asked: Route, cases: Sequence[object]) -> Path:
    """Make the runs, or what is missing of them, and print them side by side; returns the last folder.

    Raises `CheckFailed` when the runs differ in a proposal, an observation or an answer, `Interrupted` with the command
    that finishes the route.
    """
    finish = parent.command("reproduce", "--resume")
    made: list[Made] = []
    try:
        for number in range(asked.runs):
            folder = asked.folders[number] if number < len(asked.folders) else new_folder(parent.folder)
            outputs = parent._replace(folder=folder)
            route.mark(outputs, asked, [one.folder for one in made])
            made.append(run_once(outputs, asked, cases, finish, full=not made))
        _compare(made, asked.language)
    except KeyboardInterrupt as exc:
        raise Interrupted(f"{interruption(exc)}; finish with: {finish}") from exc
    route.clear(made[-1].folder)
    return made[-1].folder


def _compare(made: Sequence[Made], language: Language) -> None:
    """Say the verdict on the last run, and how the others differ from it."""
    last = made[-1]
    verdict.verdict(last.run["results"], last.negatives, last.evaluation, language)
    if len(made) == 1:
        return
    runs = [(one.folder.name, one.evaluation["measures"]) for one in made]
    say("\n" + tables.measures(runs, language))
    if differences := compare.changed([one.run for one in made]):
        store.write_json(last.folder / "differences.json", differences)
        raise CheckFailed(f"the runs differ in {len(differences)} questions; see {last.folder / 'differences.json'}")
    same = translator(language).gettext("{n} runs: the same proposals, observations and answers, word for word")
    say(layout.wrapped(same.format(n=len(made))))
