"""What sentences may say, by language and state: `data/wording/*.toml`, one page for each language, read once.

A page is data: to allow a form, or a fifth language, write it there. Its content is checked when it is read.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from src.base.paths import ROOT
from src.wording import grammar
from src.wording.grammar import Follower, Form

PAGES = ROOT / "data" / "wording"
STATES = ("stock", "zero", "unknown")
SHAPE = {
    "plain": ("stock", "unknown", "no_reference", "malformed", "another", "several"),
    "nouns": ("product", "code", "number"),
    "numbers": ("thousands", "words"),
    "lists": None,  # any names
    "anywhere": ("joints", "clauses"),
    **dict.fromkeys(STATES, ("says", "beside")),
    "signs": ("not_found", "none_left", "in_stock"),
}
SAID = "."  # follows a clause that states the observation; no word of a clause looks like it


class BadPage(ValueError):
    """A language's page with something missing or wrong; the message names the page and the place."""


@dataclass(frozen=True)
class State:
    """What may be said in one state of a product, in one language."""

    follow: Follower
    words: frozenset[str]


@dataclass(frozen=True)
class Language:
    """One page: its plain sentences, the nouns that announce a name, what each state may say, and signs of a fault."""

    name: str
    plain: dict[str, str]
    nouns: dict[str, list[str]]
    thousands: str  # the mark between them
    numbers: list[str]  # in words, from 0 on; empty where the word says something else as well
    states: dict[str, State]
    signs: dict[str, str]
    words: frozenset[str]  # of all states


def load(page: Path) -> Language:
    """Read one page. Raises `BadPage` for anything missing, unknown, or not in the notation."""
    try:
        data = tomllib.loads(page.read_text(encoding="utf-8"))
    except ValueError as exc:  # not TOML, or not UTF-8
        raise BadPage(f"{page}: {exc}") from exc
    _check(page, data)
    lists: dict[str, Form] = {}
    for name, text in data["lists"].items():
        lists[name] = _form(page, name, text, lists)
    joints, anywhere = (_form(page, name, data["anywhere"][name], lists) for name in ("joints", "clauses"))
    states = {}
    for state in STATES:
        says, beside = (_form(page, f"{state}.{name}", data[state][name], lists) for name in ("says", "beside"))
        whole = _sentence(joints, says, Form([*beside.branches, *anywhere.branches]))
        states[state] = State(Follower(whole), grammar.words(whole))
    words = frozenset().union(*(state.words for state in states.values()))
    return Language(
        page.stem,
        data["plain"],
        data["nouns"],
        data["numbers"]["thousands"],
        data["numbers"]["words"],
        states,
        data["signs"],
        words,
    )


def _sentence(joints: Form, says: Form, beside: Form) -> Form:
    """Return clauses with a joint or a colon between them; behind one of `says` it may end with `SAID`."""
    link = Form([*joints.branches, (":",)])
    begun, more, said, more_said = Form(), Form(), Form(), Form()
    begun.branches = ((), (joints, begun), (beside, more), (says, more_said))
    more.branches = ((), (link, begun))
    said.branches = ((), (SAID,), (joints, said), (beside, more_said), (says, more_said))
    more_said.branches = ((), (SAID,), (link, said))
    return begun


def _check(page: Path, data: dict[str, Any]) -> None:
    """Raise `BadPage` unless the page has exactly the tables and keys of `SHAPE`."""
    if set(data) != set(SHAPE):
        raise BadPage(f"{page}: must have exactly the tables {', '.join(SHAPE)}")
    for part, keys in SHAPE.items():
        if keys is not None and set(data[part]) != set(keys):
            raise BadPage(f"{page}: [{part}] must have exactly {', '.join(keys)}")


def _form(page: Path, name: str, text: object, lists: dict[str, Form]) -> Form:
    try:
        return grammar.read(str(text), lists)
    except grammar.BadForm as exc:
        raise BadPage(f"{page}: {name}: {exc}") from exc


@cache
def in_words(figure: int) -> frozenset[tuple[str, ...]]:
    """Return how the languages write a number: `sixty-nine` is the words `sixty`, `nine`."""
    said = (language.numbers[figure] for language in languages() if figure < len(language.numbers))
    return frozenset(tuple(grammar.plain(word) for word in re.findall(grammar.WORD, words)) for words in said if words)


@cache
def sign(name: str) -> re.Pattern[str]:
    """Return the sign of a fault in every language at once: a model asked in Vietnamese may answer in French."""
    return re.compile("|".join(language.signs[name] for language in languages()))


@cache
def languages() -> tuple[Language, ...]:
    """Return every language that has a page, ordered by name."""
    return tuple(load(page) for page in sorted(PAGES.glob("*.toml")))
