"""Forms of a clause, written as data in the notation of the JSpeech Grammar Format, and followed word by word.

`[optional]`, `(a | b)` and `<list>`, which may use only lists above it. A form is followed through all its branches at
once (Brzozowski's derivatives, made when first needed and kept), so that the time is linear in the words of a text,
whatever it says; a regular expression of this size backtracks for milliseconds.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

FIGURE = "N"  # the observed stock, in a form and in a clause
PRODUCT = "REF"  # the product that was read, by its reference or its name
TERMINALS = frozenset((FIGURE, PRODUCT))
# A letter with its combining marks; an apostrophe ends a word that goes on after it: `n'` `existe`, `there'` `s`.
WORD = r"(?:[^\W\d_][\u0300-\u036f]*)+(?:['\u2019\u02bc](?=[^\W\d_]))?"
_NOTATION = re.compile(rf"<(?P<list>\w+)>|(?P<mark>[\[\]()|])|(?P<word>{WORD}'?|[:=?])|(?P<space>[\s-]+)|(?P<odd>.)")
_CLOSES = {"[": "]", "(": ")"}
KEPT = 5_000  # places kept for one form: the sentences of a shop need a few hundred


class BadForm(ValueError):
    """A form that cannot be read: an unknown list, an unbalanced bracket, a sign that is not a word."""


class Form:
    """Branches of words and further forms; compared by identity, since lists are shared and may lead back here."""

    def __init__(self, branches: Iterable[tuple["str | Form", ...]] = ()) -> None:
        self.branches = tuple(branches)


# What is still to come: the next word or form, and what follows it.
Rest: TypeAlias = "tuple[str | Form, Rest] | None"


class Place:
    """A place within a form: the words that may come next, each with the place behind it."""

    def __init__(self, rests: frozenset[Rest]) -> None:
        self.after: dict[str, set[Rest]] = {}
        self.known: dict[str, Place] = {}
        self.is_end = False
        seen, todo = set(rests), list(rests)
        while todo:
            rest = todo.pop()
            if rest is None:
                self.is_end = True
            elif isinstance(rest[0], str):
                self.after.setdefault(rest[0], set()).add(rest[1])
            else:
                for branch in rest[0].branches:
                    following = rest[1]
                    for part in reversed(branch):
                        following = (part, following)
                    if following not in seen:
                        seen.add(following)
                        todo.append(following)


class Follower:
    """Follows clauses through one form."""

    def __init__(self, form: Form) -> None:
        self._start = Place(frozenset([(form, None)]))
        self._places: dict[frozenset[Rest], Place] = {}

    def __call__(self, words: Iterable[str]) -> Place | None:
        """Return the place behind these words, or `None` where the form has no such words."""
        place = self._start
        for word in words:
            if (known := place.known.get(word)) is None:
                if word not in place.after:
                    return None
                known = place.known[word] = self._place(frozenset(place.after[word]))
            place = known
        return place

    def _place(self, rests: frozenset[Rest]) -> Place:
        if (found := self._places.get(rests)) is None:
            if len(self._places) >= KEPT:  # full of odd sentences: start afresh
                self._places.clear()
                self._start.known.clear()
            found = self._places[rests] = Place(rests)
        return found


def plain(word: str) -> str:
    """Return a word as the lists are written: composed, without case, with a straight apostrophe."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", word).casefold().replace("\u2019", "'").replace("\u02bc", "'")


def read(text: str, lists: Mapping[str, Form]) -> Form:
    """Return the form that is written in `text`, e.g. `[still] N <unit>`. Raises `BadForm`."""
    return _read((match for match in _NOTATION.finditer(text) if match.lastgroup != "space"), "", lists)


def words(form: Form) -> frozenset[str]:
    """Return the words of a form and of all that it leads to, without the terminals."""
    found: set[str] = set()
    seen, todo = {form}, [form]
    while todo:
        for branch in todo.pop().branches:
            found.update(part for part in branch if isinstance(part, str))
            new = {part for part in branch if isinstance(part, Form)} - seen
            seen |= new
            todo += new
    return frozenset(found) - TERMINALS


def _read(tokens: Iterator[re.Match[str]], closing: str, lists: Mapping[str, Form]) -> Form:
    branches: list[list[str | Form]] = [[]]
    for token in tokens:
        text = token[0]
        if text == "|":
            branches.append([])
        elif text in _CLOSES:
            inner = _read(tokens, _CLOSES[text], lists)
            branches[-1].append(Form([*inner.branches, ()]) if text == "[" else inner)
        elif token["mark"]:
            if text != closing:
                raise BadForm(f"{text} at {token.start()} closes nothing")
            return Form(tuple(branch) for branch in branches)
        elif token["list"]:
            if token["list"] not in lists:
                raise BadForm(f"<{token['list']}> is no list above this one")
            branches[-1].append(lists[token["list"]])
        elif token["word"]:
            branches[-1].append(text if text in TERMINALS else plain(text))
        else:
            raise BadForm(f"{text!r} at {token.start()} is no word")
    if closing:
        raise BadForm(f"{closing} is missing")
    return Form(tuple(branch) for branch in branches)
