"""Options that several commands of `src.cli` take."""

import argparse
import os
from pathlib import Path

from src.base.errors import Precondition
from src.base.messages import LANGUAGES
from src.base.parser import whole
from src.base.printable import excerpt
from src.base.records import Language
from src.base.registry import Option
from src.runs.records import HostileFile, Shop

MOST_QUESTIONS = 1_000_000


def data(default: str) -> Option:
    """`--data`: the file of products and questions; `default` says in words which it is where none is named."""

    def add(parser: argparse.ArgumentParser) -> None:
        help_text = f"products and questions (default: {default})"
        parser.add_argument("--data", type=Path, metavar="FILE", help=help_text)

    return add


def language(of: str, resumes: bool = False, otherwise: Language | None = "en") -> Option:
    """`--lang`: the language of what the command is about, e.g. `questions`; R3_LANG is its default.

    A command that `resumes` gets `None` where it is not given: an interrupted run has its own, and `default_language`
    is for a new one. `otherwise` is the default without R3_LANG; `None` stands for the language of the run.
    """

    def add(parser: argparse.ArgumentParser) -> None:
        named = os.environ.get("R3_LANG") or otherwise
        default = named if named is None or named in LANGUAGES else f"R3_LANG={named}"  # its name goes into the error
        help_text = f"language of the {of}: {', '.join(LANGUAGES)} (default: R3_LANG, else "
        help_text += f"{otherwise or 'that of the run'})"
        parser.add_argument(
            "--lang", type=_language, default=None if resumes else default, metavar="LANG", help=help_text
        )

    return add


def default_language() -> Language:
    """Return the language of R3_LANG, else English; `Precondition` when it names none that the questions have."""
    try:
        return _language(os.environ.get("R3_LANG") or "en")
    except argparse.ArgumentTypeError as exc:
        raise Precondition(f"R3_LANG: {excerpt(str(exc))}; set it to one of them, or unset it") from None


def language_of(data: Shop | HostileFile) -> Language:
    """Return the default language, if the questions are there in it, else the first in which they are."""
    from src.runs import catalog

    default, there = default_language(), [] if catalog.is_hostile(data) else catalog.languages(data)
    return default if default in there or not there else there[0]


def _language(text: str) -> Language:
    """A language that the questions have; `argparse` reads the default with it as well, if `--lang` is not given."""
    for language in LANGUAGES:
        if text == language:
            return language
    raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(LANGUAGES)}")


def json(parser: argparse.ArgumentParser) -> None:
    """`--json`: for a program that reads the result."""
    help_text = "print the record that is written, as one JSON document, and nothing else on standard output"
    parser.add_argument("--json", action="store_true", help=help_text)


def own_questions(parser: argparse.ArgumentParser) -> None:
    """`--questions` and `--ask`: what is asked about a reader's own products."""
    help_text = "questions of your own, one a row (CSV or JSON), in the language of --lang"
    parser.add_argument("--questions", type=Path, metavar="FILE", help=help_text)
    help_text = "make N questions from the products; all: about every one (default for a CSV file: 30)"
    parser.add_argument("--ask", type=_how_many, metavar="N", help=help_text)


def _how_many(text: str) -> int:
    """So many questions: two at least, since one of them is about a reference that does not exist."""
    return MOST_QUESTIONS if text == "all" else whole(2, MOST_QUESTIONS)(text)


def resume(parser: argparse.ArgumentParser) -> None:
    """`--resume`: the rest of what was interrupted, as it was begun."""
    help_text = "finish what was interrupted, under its own conditions: they need not be repeated"
    parser.add_argument("--resume", action="store_true", help=help_text)


def guard_answers(default: bool | None) -> Option:
    """`--guard-answers`: off in R3's way (`None`: an interrupted run may say so), on where a customer is answered."""

    def add(parser: argparse.ArgumentParser) -> None:
        help_text = "replace a sentence with a fault by a plain one made from the observation"
        help_text += f" (default: {'yes' if default else 'no'})"
        parser.add_argument("--guard-answers", action=argparse.BooleanOptionalAction, default=default, help=help_text)

    return add
