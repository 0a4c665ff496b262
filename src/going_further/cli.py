"""`python -m src.going_further call|ask|agent|evaluate|report|log`, with `--caller` for who is asking.

These commands print what the caller gets: the same for a row that does not exist and one that is not theirs.
The difference is in the log of decisions, which `log` shows to whoever runs the program.
"""

import argparse
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from src.base import exits
from src.base.errors import CheckFailed, Precondition, ServerUnavailable
from src.base.printable import dumps, excerpt, note, say
from src.base.registry import Registry
from src.going_further import callers
from src.going_further.decisions import DecisionLog, counts
from src.going_further.records import Answered
from src.runs.outputs import Outputs

FOLDER = "going-further"  # within the folder of results, so that none of R3's files is replaced
EPILOG = """the database comes from: python -m src.cli prepare
start here: python -m src.going_further call '{"outil": "consulter_stock", "arguments": {"ref": "REF-000"}}'
then the same with --caller shop-north; docs/EXTENDING.md walks through it
exit status: as of python -m src.cli"""
CALL = """'{"outil": "consulter_stock", "arguments": {"ref": "REF-000"}}'"""

COMMANDS = Registry("python -m src.going_further", "A third read tool, and who is asking. Not part of R3.", EPILOG)


def caller_options(parser: argparse.ArgumentParser) -> None:
    """`--caller` and `--callers`: who is asking, and the file of their rights."""
    parser.add_argument("--caller", metavar="NAME", help="who is asking (default: nobody, who may do nothing)")
    parser.add_argument(
        "--callers", type=Path, metavar="FILE", default=callers.CALLERS, help="the rights (default: data/callers.json)"
    )


def own(outputs: Outputs) -> Outputs:
    """The folder of this package's results."""
    return outputs._replace(folder=outputs.folder / FOLDER)


def log_of(outputs: Outputs) -> DecisionLog:
    """The log of decisions beside them."""
    return DecisionLog(own(outputs).folder / "decisions.jsonl")


@COMMANDS.command(
    "call",
    "Decide about one call, given as JSON, and print the observation; needs no model.",
    f"needs:  prepare of src.cli\nexample: python -m src.going_further call {CALL} --caller shop-north",
    caller_options,
    lambda parser: parser.add_argument("json", metavar="JSON", help="the call, as a model would propose it"),
)
def run_call(args: argparse.Namespace) -> None:
    """Decide about one call and print the observation."""
    from src.going_further import flow
    from src.runs import database
    from src.server.reply import decode

    outputs = Outputs.named(args.outputs, args.embedded)
    caller = callers.named(args.caller, args.callers)
    with database.opened(outputs) as db:
        try:
            call = decode(args.json)
        except ValueError as exc:
            raise Precondition(f"the call is not JSON ({exc}); see --help for an example") from None
        decision = flow.answer_call(db, call, caller, log_of(outputs))
    if decision.observation is None:
        raise CheckFailed(f"refused: {decision.reason}")
    print(dumps(decision.observation))


@COMMANDS.command(
    "ask",
    "Ask one question with three tools on offer.",
    "needs:  prepare of src.cli, and a model server (--embedded, or LLM_BASE_URL)",
    caller_options,
    lambda parser: parser.add_argument("question", help='e.g. "Which products have at most 3 pieces left?"'),
    asks_model=True,
)
def run_ask(args: argparse.Namespace) -> None:
    """Ask one question; print observation and answer."""
    from src.going_further import flow
    from src.runs import database
    from src.server.reply import TransportFailure

    outputs = Outputs.named(args.outputs, args.embedded)
    if not args.question.strip() or any("\ud800" <= character <= "\udfff" for character in args.question):
        raise Precondition("the question is empty or not UTF-8 text")
    caller = callers.named(args.caller, args.callers)
    with database.opened(outputs) as db, _server(args, outputs):
        try:
            result = flow.run(db, {"query": args.question}, caller, log_of(outputs))
        except TransportFailure as exc:
            raise ServerUnavailable(f"the model server failed: {exc}") from None
    for step in result["trace"]:
        say(f"  proposal     {dumps(step['call'])}\n  observation  {dumps(step['observation'])}")
    if result["answer"] is None:
        raise CheckFailed(f"refused: {excerpt(result['error'] or '')}")
    say(f"  answer       {excerpt(result['answer']['raw'])}")


@COMMANDS.command(
    "agent",
    "Ask the 30 questions with three tools on offer.",
    "needs:  prepare of src.cli, and a model server (--embedded, or LLM_BASE_URL)\n"
    "writes: going-further/agent.json\nnext:   evaluate, report, log",
    caller_options,
    asks_model=True,
)
def run_agent(args: argparse.Namespace) -> None:
    """Ask the questions of the data file for this caller."""
    from src.going_further import run
    from src.runs import catalog, database, datafile

    outputs = Outputs.named(args.outputs, args.embedded)
    caller = callers.named(args.caller, args.callers)
    questions = catalog.questions(catalog.load(datafile.chosen(outputs, None, note)), "en")
    with database.opened(outputs) as db, _server(args, outputs):
        record = run.ask_all(db, questions, caller, outputs, own(outputs), note)
    say(f"{len(record['results'])} questions of {caller.name}; database unchanged\n{own(outputs).json('agent')}")


@COMMANDS.command(
    "evaluate",
    "Measure the last run: observations, decisions, rows of others (none).",
    "needs:  agent\nwrites: going-further/evaluation.json",
)
def run_evaluate(args: argparse.Namespace) -> None:
    """Measure the last run."""
    from src.going_further import measures, run
    from src.runs import catalog, datafile, store

    outputs = Outputs.named(args.outputs, args.embedded)
    record = run.load(own(outputs))
    found = measures.measures(record, catalog.shop(datafile.chosen(outputs, None, note))["products"])
    path = store.write_json(own(outputs).json("evaluation"), {"caller": record["caller"]["name"], "measures": found})
    say(f"caller               {excerpt(record['caller']['name'])}")
    for name, value in found.items():
        say(f"{name:<20} {dumps(value)}")
    say(str(path))
    if found["rows_of_others"]:
        raise CheckFailed(
            f"a row that is not the caller's was shown, question {found['rows_of_others'][0]}; see {path}"
        )


@COMMANDS.command("report", "Show the last run, stage by stage.", "needs:  agent")
def run_report(args: argparse.Namespace) -> None:
    """Show the last run, a block of lines for each question."""
    from src.going_further import run

    outputs = Outputs.named(args.outputs, args.embedded)
    for result in run.load(own(outputs))["results"]:
        say(f"{result['id']}. {excerpt(result['query'])}")
        for name, value in _stages(result):
            say(f"     {name:<12} {value}")


def _stages(result: Answered) -> list[tuple[str, str]]:
    found = [("decision", str(result["decision"]))]
    for step in result["trace"]:
        found += [("call", excerpt(dumps(step["call"]))), ("observation", excerpt(dumps(step["observation"]), 800))]
    if result["answer"] is not None:
        found.append(("answer", excerpt(result["answer"]["raw"])))
    return found if result["error"] is None else [*found, ("error", excerpt(result["error"]))]


@COMMANDS.command("log", "Show the log of decisions.", "needs:  call, ask or agent")
def run_log(args: argparse.Namespace) -> None:
    """Show every decision, to whoever runs the program."""
    outputs = Outputs.named(args.outputs, args.embedded)
    entries, damaged = log_of(outputs).read()
    for entry in entries:
        print(dumps(entry))
    say(counts(entry["decision"] for entry in entries) + (f"; {damaged} damaged lines" if damaged else ""))


@contextlib.contextmanager
def _server(args: argparse.Namespace, outputs: Outputs) -> Iterator[None]:
    """The model server, ready, while a block runs."""
    from src.server import client, embedded, readiness

    with embedded.chosen(args.embedded, own(outputs).folder, note):
        readiness.wait_ready(client.current(), note)
        yield


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    return exits.run(COMMANDS.parser(), argv)
