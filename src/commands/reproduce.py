"""`reproduce`: the whole route in one go, in a new folder per run, then the measures, three questions and a page.

Two runs on one machine must give the same proposals and answers, word for word; any difference is shown.
"""

import contextlib
import itertools
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from src import evaluate
from src.base.errors import CheckFailed, Precondition
from src.base.paths import near
from src.base.printable import note, quoted, say
from src.base.records import Language, Negatives, Result, Run
from src.commands import exercise, negatives, prepare, show
from src.measures import compare, tables
from src.measures.records import Evaluation
from src.report import render
from src.runs import runfile, session, store
from src.runs.outputs import Outputs
from src.runs.results import observed

SHOWN_QUESTIONS = ("REF-000", "REF-999")  # out of stock, unknown; the third is the first with a stock above 0


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


def run_once(outputs: Outputs, data: Path, language: Language, cases: Sequence[object]) -> Made:
    """Run the whole route once into `outputs`."""
    note(f"\n== prepare, agent, negatives, evaluate, exercise, report into {outputs.folder}")
    prepare.prepare(outputs, data)
    run = session.begin(outputs, data, language, note)
    path = show.with_progress(len(run.questions), 0, lambda progress: session.work(run, progress))
    _, attempts = negatives.negatives(outputs, cases)
    negatives.check(outputs, attempts)
    _, evaluation = evaluate.evaluate_run(outputs, data)
    exercise.exercise(outputs, cases, say=lambda _: None, language=language)
    try:
        render.report(outputs)
    except Precondition as exc:  # the run is complete without its page
        note(f"no report: {exc}")
    return Made(outputs.folder, runfile.read(path, "run reproduce again"), attempts, evaluation)


def reproduce(parent: Path, data: Path, language: Language, cases: Sequence[object], runs: int) -> Path:
    """Make `runs` runs and print them side by side; returns the last folder.

    Raises `CheckFailed` when the runs differ in a proposal, an observation or an answer.
    """
    made = [run_once(Outputs(new_folder(parent)), data, language, cases) for _ in range(runs)]
    folder = made[-1].folder
    _print_stages(made[-1].run["results"])
    _print_summary(made)
    if differences := compare.changed([one.run for one in made]):
        store.write_json(folder / "differences.json", differences)
        raise CheckFailed(f"the runs differ in {len(differences)} questions; see {folder / 'differences.json'}")
    if runs > 1:
        say(f"{runs} runs: the same proposals, observations and answers, word for word")
    return folder


def next_steps(folder: Path, language: Language) -> str:
    """Say what to do after the last run in `folder`: look at its page, then do the exercise by hand."""
    page, parent = folder / "report.html", Outputs(folder.parent)
    steps = [parent.command("exercise" if language == "en" else f"exercise --lang {language}")]
    if not parent.database.exists():
        steps.insert(0, parent.command("prepare"))
    activate = Path(sys.prefix) / "bin" / "activate"
    if sys.prefix != sys.base_prefix and activate.exists() and "VIRTUAL_ENV" not in os.environ:
        steps.insert(0, f". {quoted(str(near(activate)))}")
    look = [f"look at it:  {page}"] if page.exists() else []
    return "\n".join([*look, f"next:        {' && '.join(steps)}"])


def _print_stages(results: Sequence[Result]) -> None:
    picked = [next((r for r in results if r["ref"] == ref), None) for ref in SHOWN_QUESTIONS]
    picked.insert(1, next((r for r in results if (seen := observed(r)) and seen.get("stock")), None))
    say("\n== three questions, stage by stage")
    for result in picked:
        if result is not None:
            say(f"question {result['id']}\n{show.stages(result)}")
    say("\nThe observation is what the database holds. The answer is what the model made of it: compare the two.")


def _print_summary(made: Sequence[Made]) -> None:
    last = made[-1]
    say("\n== refusals")
    say(show.checks(last.negatives))
    say("\n== database before and after the questions")
    say(show.digests(last.run))
    say(f"\n== measures\n{tables.heading(last.evaluation)}\n")
    say(tables.measures([(one.folder.name, one.evaluation["measures"]) for one in made]))
