"""What a question names, held against the product that was read for it; from its text alone, as a shop has to.

`ref 012`, `REF012`, full-width digits and a no-break hyphen are REF-012 to a person, and so here; the gate, which sees
only what the model proposes, knows one form. The form is that of `tools.REFERENCE`, whatever it says.
Not known: what else a question wants, and a product that it describes in other words than its name.
"""

import re
import unicodedata
from functools import cache
from typing import Literal, NamedTuple

from src.base.messages import N_
from src.base.printable import excerpt
from src.base.records import Observation
from src.tools import REFERENCE
from src.wording import clauses

Mismatch = Literal["no_reference", "malformed", "another", "several"]
# Why a customer gets no stock although one was read; the words are for a person.
MISMATCHES: dict[str, str] = {
    "no_reference": N_("the question names no reference"),
    "malformed": N_("what the question names is no reference"),
    "another": N_("another product was read than the question names"),
    "several": N_("the question names several products"),
}
HYPHENS = dict.fromkeys(map(ord, "\u2010\u2011\u2212"), "-")  # what stands for a hyphen inside a word
WORD_CHARACTER = "[0-9A-Za-z]"
TAIL = rf"{WORD_CHARACTER}+(?:-{WORD_CHARACTER}+)*"
SHOWN, LONGEST = 3, 40  # references that a sentence lists, and characters of each


class Asked(NamedTuple):
    """What a question names, in its order and without repetitions."""

    references: tuple[str, ...]  # in the gate's form
    alike: tuple[str, ...]  # look like one and are none, e.g. REF-12


def asked(question: str) -> Asked:
    """Return what the question names: `Is ref 012 or REF-13 left?` names REF-012, and REF-13 looks like a reference."""
    text, found = plain(question), dict[int, tuple[bool, str]]()
    for match in _whole().finditer(text):
        found[match.start()] = (True, _in_form(match[0]) or match[0])
    if prefix := _prefix()[0]:
        found |= {match.start(): _read(match) for match in _announced(prefix).finditer(text)}
    if not found:  # `code 012`; beside a reference, `code 55` is something else
        found = {match.start(): _read(match) for match in _announced(clauses.code_nouns()).finditer(text)}
    ordered = [found[place] for place in sorted(found)]
    whole, alike = ([word for is_whole, word in ordered if is_whole is kind] for kind in (True, False))
    return Asked(tuple(dict.fromkeys(whole)), tuple(dict.fromkeys(alike)))


def mismatch(question: str, ref: str, seen: Observation | None) -> Mismatch | None:
    """Say why what was read for `ref` does not answer the question; `None` where it does.

    A question may call the product by its name, too, if it names no reference.
    """
    found = asked(question)
    if ref in found.references:
        return "several" if len(found.references) + len(found.alike) > 1 else None
    if found.references or found.alike:
        return "another" if found.references else "malformed"
    name = seen["name"] if seen and "name" in seen else ""
    return None if re.search(clauses.names(ref, name), plain(question), re.IGNORECASE) else "no_reference"


def written(question: str) -> str:
    """Return the references of a question, or what looks like one, as a list for a sentence."""
    named = [excerpt(word, LONGEST) for words in asked(question) for word in words]
    return ", ".join(named[:SHOWN]) + (", …" if len(named) > SHOWN else "")


def form() -> str:
    """Return the form of a reference for a person: `REF-###`."""
    return re.sub(r"\[0-9\](?:\{(\d+)\})?", lambda digits: "#" * int(digits[1] or 1), REFERENCE.pattern)


def plain(text: str) -> str:
    """Return a text with what looks alike made alike: digits of any script, hyphens, and no invisible characters."""
    kept = (c for c in unicodedata.normalize("NFKC", text).translate(HYPHENS) if unicodedata.category(c) != "Cf")
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in kept)


def _read(match: re.Match[str]) -> tuple[bool, str]:
    """Whether a prefix and what follows it are a reference, and the reference or the words as they stand."""
    made = "".join((*_prefix(), match["tail"]))
    whole = _in_form(made) or _in_form(made.removesuffix("s"))  # `two REF-012s`
    return (True, whole) if whole else (False, match[0])


def _in_form(word: str) -> str | None:
    """Return the word as a reference, whatever its case; `None` where it is none."""
    return next((each for each in (word, word.upper(), word.lower()) if REFERENCE.fullmatch(each)), None)


@cache
def _prefix() -> tuple[str, str]:
    """The letters that every reference begins with, and the sign behind them; empty where the form has none."""
    start = re.match(r"([A-Za-z]*)((?<=.)[-_.])?", REFERENCE.pattern)
    return (start[1], start[2] or "") if start else ("", "")


@cache
def _announced(words: str) -> re.Pattern[str]:
    """The pattern of these words and a number, or of anything that a hyphen ties to them."""
    return re.compile(
        rf"(?<![^\W_])(?:{words})(?:{clauses.SEPARATORS}(?=[0-9])|\s?[-_]\s?)(?P<tail>{TAIL})", re.IGNORECASE
    )


@cache
def _whole() -> re.Pattern[str]:
    """The form itself, alone: not within REF-0123 or REF-012-B."""
    return re.compile(rf"(?<!{WORD_CHARACTER})(?:{REFERENCE.pattern})(?!-?{WORD_CHARACTER})", re.IGNORECASE)
