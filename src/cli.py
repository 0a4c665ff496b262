"""The command line: `python -m src.cli COMMAND`; each command reads and writes files in `outputs/`.

Dispatch. What each command takes is in `src/commands/options.py`; how a failure becomes a line on stderr and an exit
status, in `src/base/exits.py`.
Imports are made by the command that needs them, so that `--help`, `negatives` and `exercise` start at once.
"""

import argparse
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from src.base import exits
from src.base.errors import CheckFailed, Precondition
from src.base.printable import say
from src.commands import options

if TYPE_CHECKING:
    from src.runs.outputs import Outputs

# Calls that the gate must refuse. The exercise: in a copy of the project, put `modifier_stock` in the place of
# `delete`, predict what `negatives` will say, and find the check in `toolcall()` that says it.
cases: list[Any] = [
    {"outil": "delete", "arguments": {"ref": "REF-000"}},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-12"}},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-000; DROP TABLE products"}},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-000", "stock": 5}},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-000"}, "admin": True},
]

MAX_JOBS = 24  # above the slots of any server this is for; a job takes two threads, and compose.yaml allows 64


def outputs_of(args: argparse.Namespace) -> "Outputs":
    """The folder of results that the command line names."""
    from src.runs.outputs import Outputs

    return Outputs.named(getattr(args, "outputs", None))


def model_server(args: argparse.Namespace, outputs: "Outputs", slots: int = 1) -> AbstractContextManager[None]:
    """The server of the environment, or the embedded one with `--embedded` or R3_EMBEDDED=1."""
    from src.server import embedded

    return embedded.chosen(getattr(args, "embedded", False), outputs.folder, say, slots)


def run_prepare(args: argparse.Namespace) -> None:
    """`prepare`: build the database."""
    from src.commands import prepare

    path = prepare.prepare(outputs_of(args), args.data)
    say(f"database built: {outputs_of(args).database}\n{path}")


def run_agent(args: argparse.Namespace) -> None:
    """`agent`: the questions of the data file, in order."""
    from src.base.printable import excerpt
    from src.commands import show
    from src.runs import database, recovery, session

    outputs = outputs_of(args)
    database.check(outputs)  # before a model is loaded in vain
    if not 1 <= args.jobs <= MAX_JOBS:
        raise Precondition(f"--jobs {args.jobs}: give a number from 1 to {MAX_JOBS}")
    with recovery.exclusive(outputs), model_server(args, outputs, slots=args.jobs):
        run = session.begin(outputs, args.data, args.lang, say, guarded=args.guard_answers, in_flight=args.jobs)
        if args.resume:
            recovery.resume(run, say)
            say(f"resuming: {run.kept} results kept, {len(run.missing)} questions to ask")
        else:
            recovery.set_aside(run, say)
        path = show.with_progress(len(run.questions), run.kept, lambda progress: session.work(run, progress))
    errors = [result for result in run.results if result["error"] is not None]
    say(f"{len(run.results)} questions, {len(errors)} errors; database unchanged")
    if errors:
        say(f"  first error, question {errors[0]['id']}: {excerpt(errors[0]['error'])}")
    say(str(path))


def run_negatives(args: argparse.Namespace) -> None:
    """`negatives`: what must be refused."""
    from src.commands import negatives, show

    path, result = negatives.negatives(outputs_of(args), cases)
    say(f"{show.checks(result)}\n{path}")


def run_evaluate(args: argparse.Namespace) -> None:
    """`evaluate`: the measures of the last run."""
    from src import evaluate
    from src.measures import hostile, tables
    from src.runs import catalog

    if catalog.is_hostile(catalog.load(args.data)):
        if args.against is not None:
            raise Precondition(f"--against compares runs about products, and {args.data} holds none; leave it out")
        path, judged = hostile.evaluate_run(outputs_of(args), args.data)
        say(f"{hostile.report(judged)}\n{path}")
        return
    outputs = outputs_of(args)
    path, result = evaluate.evaluate_run(outputs, args.data, args.against)
    say(f"{tables.heading(result)}\n")
    say(tables.measures([("this run", result["measures"])]))
    say(f"\n{tables.beyond(result['beyond'], result['measures']['queries'])}")
    if result["against"] is not None:
        say(tables.against(result["against"], result["measures"]))
    say(str(path))
    if not result["unchanged"]:
        raise CheckFailed(f"{outputs.database} changed during the run; see the digests in {outputs.json('agent')}")


def run_exercise(args: argparse.Namespace) -> None:
    """`exercise`: the tutorial's three questions, each prediction asked for where somebody can answer."""
    from src.commands import exercise

    path, _ = exercise.exercise(outputs_of(args), cases, print, exercise.reader(), args.lang)
    say(str(path))


def run_ask(args: argparse.Namespace) -> None:
    """`ask`: one question, its stages, and the status of what became of it."""
    from src.commands import ask
    from src.runs import database

    ask.check(args.question)
    outputs = outputs_of(args)
    database.check(outputs)
    with model_server(args, outputs):
        ask.ask(outputs, args.question, args.lang, args.guard_answers)


def run_report(args: argparse.Namespace) -> None:
    """`report`: the page about the last run."""
    from src.report import render

    say(str(render.report(outputs_of(args))))


def run_reproduce(args: argparse.Namespace) -> None:
    """`reproduce`: the whole route, once or several times."""
    if args.runs < 1:
        raise Precondition(f"--runs {args.runs}: give a number from 1")
    from src.runs import catalog

    catalog.products(catalog.load(args.data), args.data)  # before a folder is made and a model is loaded in vain
    outputs = outputs_of(args)
    with model_server(args, outputs):
        from src.commands import reproduce

        folder = reproduce.reproduce(outputs.folder, args.data, args.lang, cases, args.runs)
        say(f"{folder}\n{reproduce.next_steps(folder, args.lang)}")


HANDLERS: dict[str, Callable[[argparse.Namespace], None]] = {
    "prepare": run_prepare,
    "agent": run_agent,
    "negatives": run_negatives,
    "evaluate": run_evaluate,
    "exercise": run_exercise,
    "ask": run_ask,
    "report": run_report,
    "reproduce": run_reproduce,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    return exits.run(options.parser(), lambda args: HANDLERS[args.command](args), argv)


if __name__ == "__main__":
    exits.leave(main())
