"""`agent`: the questions of the data file through the gate, with progress, and what to do about what failed."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from src.base.errors import Precondition
from src.base.messages import translator
from src.base.printable import excerpt, note, say
from src.base.records import Language
from src.commands import answers, options, resuming
from src.runs import catalog, datafile, recovery, session
from src.runs.outputs import Outputs

# As many as one process feeds: `scripts/bench.py --fleet`. Each takes a thread, of which compose.yaml allows 256.
MAX_JOBS = 192


class Asked(NamedTuple):
    """What a command line says about a run; `None` where it says nothing."""

    data: Path | None
    language: Language | None
    guarded: bool | None
    jobs: int | None


class Conditions(NamedTuple):
    """The same, decided: as asked, else as the interrupted run has it, else the default."""

    data: Path
    language: Language
    guarded: bool
    jobs: int


def conditions(outputs: Outputs, asked: Asked, left: recovery.Left | None) -> Conditions:
    """Decide about what the command line leaves open; `left` is the run to be resumed, if one is.

    Raises `Precondition` for what is asked otherwise than of that run.
    """
    if left:
        typed = {
            "language": asked.language,
            "guard_answers": asked.guarded,
            "jobs": asked.jobs,
            "data": resuming.origin(asked.data),
        }
        resuming.check(outputs.journal, left.identity, typed, outputs, ("agent", "--resume"))
    jobs = asked.jobs if asked.jobs is not None else left.jobs if left else 1
    if not 1 <= jobs <= MAX_JOBS:
        raise Precondition(f"--jobs {jobs}: give a number from 1 to {MAX_JOBS}")
    data = left.data if left and left.data else datafile.chosen(outputs, asked.data, note)
    return Conditions(
        data,
        asked.language or (left.language if left else options.language_of(catalog.load(data))),
        asked.guarded if asked.guarded is not None else left.guarded if left else False,
        jobs,
    )


def agent(outputs: Outputs, asked: Asked, server: Callable[[int], AbstractContextManager[None]], resume: bool) -> None:
    """Ask the questions in order, or those that an interrupted run left, and say where the results are.

    `server` gives the model server for so many questions in flight.
    """
    with recovery.exclusive(outputs, note):
        how = conditions(outputs, asked, recovery.left(outputs) if resume else None)
        with server(how.jobs):
            run = session.begin(outputs, how.data, how.language, note, guarded=how.guarded, in_flight=how.jobs)
            if resume:
                recovery.resume(run, note)
            else:
                recovery.set_aside(run, note)
            path = answers.shown(len(run.questions), run.kept, how.language, lambda answer: session.work(run, answer))
    _summary(run)
    say(str(path))


def _summary(run: session.Run) -> None:
    _ = translator(run.identity["language"]).gettext
    errors = [result for result in run.results if result["error"] is not None]
    told = _("{n} questions, {errors} errors").format(n=len(run.results), errors=len(errors))
    again = ", " + _("{n} asked again").format(n=len(run.again)) if run.again else ""
    say(f"{told}{again}; {_('database unchanged')}")
    if errors:
        first = _("first error, question {id}: {error}")
        say("  " + first.format(id=errors[0]["id"], error=excerpt(errors[0]["error"] or "")))
    if run.lost:
        note(f"  lost on the way to the server: {len(run.lost)}; ask again with: {run.finish}")
