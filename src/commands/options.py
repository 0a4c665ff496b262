"""Options that several commands of `src.cli` take."""

import argparse
import os
from pathlib import Path

from src.base.messages import LANGUAGES
from src.base.records import Language
from src.base.registry import Option
from src.runs import catalog


def data(parser: argparse.ArgumentParser) -> None:
    """`--data`: the file of products and questions."""
    help_text = "products and questions (default: data/products.json)"
    parser.add_argument("--data", type=Path, metavar="FILE", default=catalog.DATA, help=help_text)


def language(of: str) -> Option:
    """`--lang`: the language of what the command is about, e.g. `questions`; R3_LANG is its default."""

    def add(parser: argparse.ArgumentParser) -> None:
        named = os.environ.get("R3_LANG") or "en"
        default = named if named in LANGUAGES else f"R3_LANG={named}"  # its name goes into the error
        help_text = f"language of the {of}: {', '.join(LANGUAGES)} (default: R3_LANG, else en)"
        parser.add_argument("--lang", type=_language, default=default, metavar="LANG", help=help_text)

    return add


def _language(text: str) -> Language:
    """A language that the questions have; `argparse` reads the default with it as well, if `--lang` is not given."""
    for language in LANGUAGES:
        if text == language:
            return language
    raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(LANGUAGES)}")


def guard_answers(default: bool) -> Option:
    """`--guard-answers`: off in R3's way, on where a customer is answered."""

    def add(parser: argparse.ArgumentParser) -> None:
        help_text = "replace a sentence with a fault by a plain one made from the observation"
        help_text += f" (default: {'yes' if default else 'no'})"
        parser.add_argument("--guard-answers", action=argparse.BooleanOptionalAction, default=default, help=help_text)

    return add
