"""Options that several commands of `src.cli` take."""

import argparse
from pathlib import Path

from src.base.registry import Option
from src.runs import catalog


def data(parser: argparse.ArgumentParser) -> None:
    """`--data`: the file of products and questions."""
    help_text = "products and questions (default: data/products.json)"
    parser.add_argument("--data", type=Path, metavar="FILE", default=catalog.DATA, help=help_text)


def language(of: str) -> Option:
    """`--lang`: the language of what the command is about, e.g. `questions`."""

    def add(parser: argparse.ArgumentParser) -> None:
        help_text = f"language of the {of}: %(choices)s (default: %(default)s)"
        parser.add_argument("--lang", choices=catalog.LANGUAGES, default="en", metavar="LANG", help=help_text)

    return add


def guard_answers(default: bool) -> Option:
    """`--guard-answers`: off in R3's way, on where a customer is answered."""

    def add(parser: argparse.ArgumentParser) -> None:
        help_text = "replace a sentence with a fault by a plain one made from the observation"
        help_text += f" (default: {'yes' if default else 'no'})"
        parser.add_argument("--guard-answers", action=argparse.BooleanOptionalAction, default=default, help=help_text)

    return add
