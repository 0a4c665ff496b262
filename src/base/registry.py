"""The commands of a command line: each one's name, summary, notes, options and function stand together.

Both lessons use it. What a command does is not known here.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from src import __version__
from src.base.exits import Handler
from src.base.parser import Help, Parser

Option = Callable[[Parser], object]
EMBEDDED = "use the model server of the xllamacpp wheel (CPU)"


@dataclass(frozen=True)
class Command:
    """One command; `notes` are the lines below its help: what it needs and writes, what comes next, an example."""

    name: str
    summary: str
    notes: str
    options: tuple[Option, ...]
    asks_model: bool
    run: Handler


class Registry:
    """The commands of one program, in the order in which they were added."""

    def __init__(self, prog: str, description: str, epilog: str) -> None:
        self.prog, self.description, self.epilog = prog, description, epilog
        self.commands: dict[str, Command] = {}

    def command(
        self, name: str, summary: str, notes: str, *options: Option, asks_model: bool = False
    ) -> Callable[[Handler], Handler]:
        """Register the decorated function as the command `name`; it is given the parsed arguments."""

        def register(run: Handler) -> Handler:
            self.commands[name] = Command(name, summary, notes, options, asks_model, run)
            return run

        return register

    def parser(self) -> Parser:
        """Build the command line; `args.run` is the function of the command that was named.

        `--embedded`, `--outputs` and `--debug` may stand before or after the command.
        """
        made = Parser(
            prog=self.prog,
            description=self.description,
            epilog=self.epilog,
            formatter_class=Help,
            parents=[_common(EMBEDDED)],
        )
        made.add_argument("--version", action="version", version=f"r3 {__version__}")
        made.set_defaults(embedded=False, outputs=None, debug=False)
        names = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
        for entry in self.commands.values():
            added = names.add_parser(
                entry.name,
                help=entry.summary,
                description=entry.summary,
                epilog=entry.notes,
                formatter_class=Help,
                parents=[_common(EMBEDDED if entry.asks_model else argparse.SUPPRESS)],
            )
            for add in entry.options:
                add(added)
            added.set_defaults(run=entry.run)
        return made


def _common(embedded: str) -> Parser:
    """The options that every command takes; `embedded` is the help of `--embedded`, hidden where no model is asked."""
    made = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    made.add_argument("--embedded", action="store_true", help=embedded)
    made.add_argument("--outputs", type=_folder, metavar="DIR", help="folder of the results (default: outputs/)")
    made.add_argument("--debug", action="store_true", help="show a traceback where a command fails")
    return made


def _folder(text: str) -> Path:
    """A folder; an empty name, as from an unset variable, is not the current folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)
