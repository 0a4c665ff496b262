"""An argument parser that reports wrong use in one line, for the commands of both lessons."""

import argparse
import difflib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from src.base import layout
from src.base.printable import excerpt

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


class Help(argparse.RawDescriptionHelpFormatter):
    """`argparse`'s help with the lines of its notes as they are written, in the width of the terminal."""

    def _fill_text(self, text: str, _width: int, _indent: str) -> str:
        """Wrap each line for itself; one with a command stays whole, so that it can be pasted."""
        rest = "  " if text[:1].islower() else ""  # a label; a command's summary is a sentence
        return "\n".join(line if "python -m" in line else layout.wrapped(line, rest=rest) for line in text.split("\n"))


class Parser(argparse.ArgumentParser):
    """`argparse`'s parser without the usage text before an error, and with a guess at what was meant."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and where to find help; exits with status 2."""
        dash = " (a text that begins with a dash goes after --)" if self._lacks_a_text(message) else ""
        self.exit(2, f"{self.prog}: {excerpt(message)}{dash}; see {self.prog} --help\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Name what is unknown here, where the command is known, and whether it expects a text."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def _takes_a_text(self) -> bool:
        return any(not action.option_strings and action.dest != "command" for action in self._actions)

    def _lacks_a_text(self, message: str) -> bool:
        """Whether what `argparse` took for an option may have been meant as a text, such as a question."""
        return self._takes_a_text() and ("arguments are required" in message or "unrecognized arguments: -" in message)

    def print_help(self, file: "SupportsWrite[str] | None" = None) -> None:
        """Print the help; unlike `argparse`'s own, it raises `OSError` when the output cannot be written."""
        print(self.format_help(), end="", file=file or sys.stdout)
        sys.stdout.flush()

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Name the closest choice where there is one: `agnet` means `agent`. Before 3.14 `argparse` lists them all."""
        choices = [str(choice) for choice in action.choices or ()]
        if choices and value not in choices and (meant := difflib.get_close_matches(str(value), choices, n=1)):
            raise argparse.ArgumentError(action, f"there is no {value!r}; did you mean {meant[0]!r}?")
        super()._check_value(action, value)


def whole(low: int, high: int) -> Callable[[str], int]:
    """Return a reader of whole numbers from `low` to `high`, for `type=` of an argument."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= len(str(high)) and low <= int(text) <= high):
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to {high}")
        return int(text)

    return read
