"""What the command line takes: the commands of `src.cli`, their options, and help that names the next step.

Parsing only; what a command does is in `src/cli.py`. Options that every command takes may stand before or after its
name.
"""

import argparse
from pathlib import Path

from src.base.parser import Parser
from src.runs import catalog

EPILOG = """the tutorial's order: prepare, agent, negatives, evaluate, exercise
start here: python -m src.cli prepare, then exercise (no model is needed)
without Docker and GPU: python -m src.cli --embedded reproduce
exit status: 0 done, 1 a check failed or the command was interrupted, 2 something is missing or the arguments are
wrong, 3 the model server cannot be reached or gave up"""

SERVER = "a model server (--embedded, or LLM_BASE_URL)"

# Each command: its summary, what it needs and writes, and what comes next.
COMMANDS = {
    "prepare": (
        "Build the database from data/products.json and record its digest.",
        "writes: stock.db, prepare.json; an existing database is never overwritten\n"
        "next:   exercise or negatives (no model), then agent",
    ),
    "agent": (
        "Ask the model the 30 questions through the gate.",
        f"needs:  prepare, and {SERVER}\n"
        "writes: agent.json, and a journal until the run is complete\n"
        "next:   evaluate, then report; after an interruption: agent --resume",
    ),
    "negatives": (
        "Attempt what is forbidden and check that it is refused; needs no model.",
        "needs:  prepare\nwrites: negatives.json\nnext:   agent; or change a call in `cases` of src/cli.py and predict",
    ),
    "evaluate": (
        "Measure the last run beside the published figures.",
        "needs:  agent\nwrites: evaluation.json\nnext:   report",
    ),
    "exercise": (
        "Predict, then observe: zero stock, unknown product, forbidden tool; needs no model.",
        "needs:  prepare; on a terminal it asks for your predictions, elsewhere it only shows\n"
        "writes: exercise.json\n"
        "next:   change one word and explain the refusal, docs/EXERCISE.md",
    ),
    "ask": (
        "Ask one question of your own and see its stages.",
        f"needs:  prepare, and {SERVER}\n"
        "writes: ask.json\n"
        'example: python -m src.cli --embedded ask "What is the stock level for REF-000?"',
    ),
    "report": (
        "Make a page about the last run to look at in a browser: report.html.",
        "needs:  agent; says more after evaluate and negatives\nwrites: report.html\nnext:   open it in a browser",
    ),
    "reproduce": (
        "Run the whole route in a new folder.",
        f"needs:  {SERVER}\n"
        "writes: run-001/, run-002/, ... with the files of every command, report.html too\n"
        "next:   open its report.html in a browser; then prepare and exercise",
    ),
}
EMBEDDED = "use the model server of the xllamacpp wheel (CPU)"
WITH_MODEL = ("agent", "ask", "reproduce")
WITH_DATA = ("prepare", "agent", "evaluate", "reproduce")
WITH_LANGUAGE = {"agent": "questions", "ask": "delivered sentence", "exercise": "lesson", "reproduce": "questions"}
GUARDED = {"agent": False, "ask": True}  # R3's way; and a customer's


def parser() -> Parser:
    """Build the command line."""
    raw = argparse.RawDescriptionHelpFormatter
    made = Parser(
        prog="python -m src.cli",
        description="A stock assistant: the model proposes, the code decides.",
        epilog=EPILOG,
        formatter_class=raw,
        parents=[_common(EMBEDDED)],
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    added: dict[str, Parser] = {}
    for name, (summary, epilog) in COMMANDS.items():
        common = _common(EMBEDDED if name in WITH_MODEL else argparse.SUPPRESS)
        added[name] = commands.add_parser(
            name, help=summary, description=summary, epilog=epilog, formatter_class=raw, parents=[common]
        )
    _shared(added)
    _own(added)
    return made


def _common(embedded: str) -> Parser:
    """The options that every command takes; `embedded` is the help of `--embedded`, hidden where no model is asked."""
    made = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    made.add_argument("--embedded", action="store_true", help=embedded)
    made.add_argument("--outputs", type=Path, metavar="DIR", help="folder of the results (default: outputs/)")
    made.add_argument("--debug", action="store_true", help="show a traceback where a command fails")
    return made


def _shared(commands: dict[str, Parser]) -> None:
    """The options that several commands take."""
    for name in WITH_DATA:
        help_text = "products and questions (default: data/products.json)"
        commands[name].add_argument("--data", type=Path, metavar="FILE", default=catalog.DATA, help=help_text)
    for name, what in WITH_LANGUAGE.items():
        help_text = f"language of the {what}: %(choices)s (default: %(default)s)"
        commands[name].add_argument("--lang", choices=catalog.LANGUAGES, default="en", metavar="LANG", help=help_text)
    for name, default in GUARDED.items():
        help_text = "replace a sentence with a fault by a plain one made from the observation"
        help_text += f" (default: {'yes' if default else 'no'})"
        guard = argparse.BooleanOptionalAction
        commands[name].add_argument("--guard-answers", action=guard, default=default, help=help_text)


def _own(commands: dict[str, Parser]) -> None:
    """The options of single commands."""
    agent = commands["agent"]
    agent.add_argument("--jobs", type=int, default=1, metavar="N", help="questions in flight (default: 1, R3's way)")
    agent.add_argument("--resume", action="store_true", help="finish an interrupted run")
    against = "compare with the run in a folder or agent.json"
    commands["evaluate"].add_argument("--against", type=Path, metavar="OTHER", help=against)
    commands["ask"].add_argument("question", help='for example "What is the stock level for REF-000?"')
    runs = "repeat it and compare the runs (default: 1)"
    commands["reproduce"].add_argument("--runs", type=int, default=1, metavar="N", help=runs)
