"""The commands of `src.cli`, each in one place: name, summary, notes for `--help`, options, and the function.

What a command does is in the module of its name. Imports are made by the function that needs them, so that
`--help`, `negatives` and `exercise` start at once.
"""

import argparse
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from src.base.errors import Precondition
from src.base.messages import translator
from src.base.printable import note, say
from src.base.registry import Registry
from src.commands import options

if TYPE_CHECKING:
    from src.runs.outputs import Outputs

EPILOG = (
    "the tutorial's order: prepare, agent, negatives, evaluate, exercise\n"
    "start here: python -m src.cli prepare, then exercise (no model is needed)\n"
    "without Docker and GPU: python -m src.cli --embedded reproduce\n"
    "exit status: 0 done, 1 a check failed or the command was interrupted, 2 something is missing or the arguments "
    "are wrong, 3 the model server cannot be reached or gave up"
)
SERVER = "a model server (--embedded, or LLM_BASE_URL)"
OWN_DATA = "data/products.json"
REMEMBERED = "the one of prepare"

COMMANDS = Registry("python -m src.cli", "A stock assistant: the model proposes, the code decides.", EPILOG)


def outputs_of(args: argparse.Namespace) -> "Outputs":
    """The folder of results that the command line names."""
    from src.runs.outputs import Outputs

    return Outputs.named(args.outputs, args.embedded)


def model_server(args: argparse.Namespace, outputs: "Outputs", slots: int = 1) -> AbstractContextManager[None]:
    """The server of the environment, or the embedded one with `--embedded` or R3_EMBEDDED=1."""
    from src.server import embedded

    return embedded.chosen(args.embedded, outputs.folder, note, slots)


@COMMANDS.command(
    "prepare",
    "Build the database from data/products.json and record its digest.",
    "writes: stock.db, prepare.json; an existing database is never overwritten\n"
    "next:   exercise or negatives (no model), then agent\n"
    "your own shop: --data shop.csv (columns ref, name, stock), see docs/YOUR_SHOP.md",
    options.data(OWN_DATA),
    options.own_questions,
    options.language("words shown, and of the questions of --questions"),
)
def prepare(args: argparse.Namespace) -> None:
    """Build the database."""
    from src.commands import prepare
    from src.runs import catalog
    from src.runs.own_shop import Wanted

    built = translator(args.lang).gettext("database built: {database}")
    wanted = Wanted(args.questions, args.lang, args.ask)
    path = prepare.prepare(outputs_of(args), args.data or catalog.DATA, wanted, say)
    say(f"{built.format(database=outputs_of(args).database)}\n{path}")


@COMMANDS.command(
    "agent",
    "Ask the model the 30 questions through the gate.",
    f"needs:  prepare, and {SERVER}\n"
    "writes: agent.json, and a journal until the run is complete\n"
    "next:   evaluate, then report; after an interruption: agent --resume",
    options.data(REMEMBERED),
    options.language("questions, and of the words shown", resumes=True),
    options.guard_answers(default=None),
    lambda parser: parser.add_argument(
        "--jobs", type=int, metavar="N", help="questions in flight (default: 1, R3's way)"
    ),
    options.resume,
    asks_model=True,
)
def agent(args: argparse.Namespace) -> None:
    """Ask the questions of the data file, in order."""
    from src.commands import agent
    from src.runs import database

    outputs = outputs_of(args)
    database.check(outputs)  # before loading a model for nothing
    asked = agent.Asked(args.data, args.lang, args.guard_answers, args.jobs)
    agent.agent(outputs, asked, lambda slots: model_server(args, outputs, slots), args.resume)


@COMMANDS.command(
    "negatives",
    "Attempt what is forbidden and check that it is refused; needs no model.",
    "needs:  prepare\nwrites: negatives.json\nnext:   agent; or change a call in `cases` of src/cli.py and predict",
    options.language("words shown"),
    options.json,
)
def negatives(args: argparse.Namespace) -> None:
    """Attempt what must be refused."""
    from src.commands import negatives, show, written

    outputs = outputs_of(args)
    with written.told(args.json) as told:
        path, result = negatives.negatives(outputs, args.cases)
        say(show.checks(result, args.lang))
        told(path, result)
    negatives.check(outputs, result)  # below the table, so that a reader sees the line that got through


@COMMANDS.command(
    "evaluate",
    "Measure the last run beside the published figures.",
    "needs:  agent\nwrites: evaluation.json\nnext:   report",
    options.data("the run's own"),
    lambda parser: parser.add_argument(
        "--against", type=Path, metavar="OTHER", help="compare with the run in a folder or agent.json"
    ),
    options.language("words shown"),
    options.json,
)
def evaluate(args: argparse.Namespace) -> None:
    """Measure the last run, or judge it if its questions were the hostile ones."""
    from src import evaluate
    from src.commands import written
    from src.measures import hostile, tables
    from src.runs import catalog, datafile, record

    outputs = outputs_of(args)
    data = args.data or datafile.asked(outputs)
    if catalog.is_hostile(catalog.load(data)):
        if args.against is not None:
            raise Precondition(f"--against compares runs about products, and {data} holds none; leave it out")
        with written.told(args.json) as told:
            path, judged = hostile.evaluate_run(outputs, data)
            say(hostile.report(judged, args.lang))
            told(path, judged)
        hostile.check(outputs, judged)
        return
    with written.told(args.json) as told:
        path, result = evaluate.evaluate_run(outputs, data, args.against)
        say(tables.evaluation(result, args.lang))
        told(path, result)
    record.check(result, outputs)


@COMMANDS.command(
    "exercise",
    "Predict, then observe: zero stock, unknown product, forbidden tool; needs no model.",
    "needs:  prepare; on a terminal it asks for your predictions, elsewhere it only shows\n"
    "writes: exercise.json\n"
    "next:   change one word and explain the refusal, docs/EXERCISE.md",
    options.language("lesson"),
    options.json,
)
def exercise(args: argparse.Namespace) -> None:
    """Go through the tutorial's three questions, asking for each prediction where somebody can answer."""
    from src.commands import exercise, written

    reader = None if args.json else exercise.reader()
    with written.told(args.json) as told:
        path, record = exercise.exercise(outputs_of(args), args.cases, print, reader, args.lang)
        told(path, record)
    exercise.check(path, record)


@COMMANDS.command(
    "ask",
    "Ask one question of your own and see its stages.",
    f"needs:  prepare, and {SERVER}\n"
    "writes: ask.json, or where there is one ask-002.json, ...\n"
    'example: python -m src.cli --embedded ask "Is REF-012 available?"',
    options.language("words shown, and of the delivered sentence"),
    options.guard_answers(default=True),
    options.json,
    lambda parser: parser.add_argument(
        "question", nargs="+", help="for example: What is the stock level for REF-000?   (after -- if it begins with -)"
    ),
    asks_model=True,
)
def ask(args: argparse.Namespace) -> None:
    """Ask one question; the exit status is its outcome."""
    from src.commands import ask, written
    from src.runs import database

    question = " ".join(args.question)
    ask.check(question)
    outputs = outputs_of(args)
    database.check(outputs)  # before loading a model for nothing
    with written.told(args.json) as told, model_server(args, outputs):
        ask.ask(outputs, question, args.lang, args.guard_answers, told)


@COMMANDS.command(
    "report",
    "Make a page about the last run to look at in a browser: report.html.",
    "needs:  agent; says more after evaluate and negatives\nwrites: report.html\nnext:   open it in a browser (--open)",
    options.language("page", otherwise=None),
    lambda parser: parser.add_argument(
        "--against", type=Path, metavar="OTHER", help="put the run in a folder or agent.json beside it"
    ),
    lambda parser: parser.add_argument("--open", action="store_true", help="open the page in the browser"),
)
def report(args: argparse.Namespace) -> None:
    """Make the page about the last run."""
    from src.commands import browser
    from src.report import render

    path = render.report(outputs_of(args), args.lang, args.against)
    say(str(path))
    if args.open and not browser.opens(path):
        note(f"no browser can be opened from here; where there is one, open {path.absolute()}")


@COMMANDS.command(
    "reproduce",
    "Run the whole route in a new folder.",
    f"needs:  {SERVER}\n"
    "writes: run-001/, run-002/, ... with the files of every command, report.html too\n"
    "next:   open its report.html in a browser; then prepare and exercise",
    options.data(OWN_DATA),
    options.language("questions, and of the words shown", resumes=True),
    lambda parser: parser.add_argument(
        "--runs", type=int, metavar="N", help="repeat it and compare the runs (default: 1)"
    ),
    options.resume,
    lambda parser: parser.add_argument("--opening", action="store_true", help=argparse.SUPPRESS),  # quickstart.sh's
    asks_model=True,
)
def reproduce(args: argparse.Namespace) -> None:
    """Run the whole route, once or several times."""
    from src.commands import opening, resuming, route
    from src.runs import catalog, own_shop

    outputs = outputs_of(args)
    if args.runs is not None and args.runs < 1:
        raise Precondition(f"--runs {args.runs}: give a number from 1")
    if args.resume:
        mark, asked = route.left(outputs)
        typed = {"language": args.lang, "runs": args.runs, "data": resuming.origin(args.data)}
        resuming.check(outputs.folder, mark, typed, outputs, ("reproduce", "--resume"))
    else:
        data = args.data or catalog.DATA
        own = own_shop.made(data)  # before making a folder and loading a model for nothing
        language = args.lang or options.language_of(own.shop if own else catalog.shop(data))
        asked = route.Route(data, language, args.runs or 1)
    if args.opening:
        opening.opening(asked.language)
        return
    from src.commands import reproduce, verdict

    with model_server(args, outputs):
        folder = reproduce.reproduce(outputs, asked, args.cases)
    verdict.next_steps(outputs, folder, asked.language)
