"""A text as clauses of words, in the notation of `data/wording`: `REF`, `N` and lower-case letters.

The reference, the product's name and the observed figure become `REF` and `N`; any other number stays, and is on no
list. Layout claims nothing and is dropped: bold, quotes, bullets, numbered lists, tables, JSON. Every other sign stays,
and no list allows it. A clause knows where its words are in the text.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache

from src.wording import figures, grammar
from src.wording.lists import in_words, languages

LONGEST_NAME = 200  # characters of a product's name that are looked for; the words of a longer one are on no list
SEPARATORS = r"[\s_.:#\-\u2010-\u2015\u00b0\u00ba]{0,3}"
NUMBERED = re.compile(r"^[ \t]*(\d{1,3})[.)](?=[ \t]+\S)", re.MULTILINE)
BOXED = re.compile(r"\\boxed\{([^{}]*)\}")
NOTHING = frozenset("*_`\"“”„«»‹›‘’'¡¿")  # emphasis and quotes
ENDS = frozenset(".!;,…\n|[]{}—–•·")
RULE = frozenset("|:- \t")


@dataclass
class Clause:
    """Words in the form that the lists are written in, and the place of each in the text."""

    words: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)

    def add(self, word: str, span: tuple[int, int]) -> None:
        """Append one word."""
        self.words.append(word)
        self.spans.append(span)

    def replace(self, words: tuple[str, ...], word: str) -> None:
        """Replace a run of words by one word."""
        for start in range(len(self.words) - len(words), -1, -1):
            if tuple(self.words[start : start + len(words)]) == words:
                end = start + len(words)
                self.words[start:end] = [word]
                self.spans[start:end] = [(self.spans[start][0], self.spans[end - 1][1])]

    def __add__(self, other: "Clause") -> "Clause":
        return Clause(self.words + other.words, self.spans + other.spans)


@lru_cache(maxsize=1024)
def names(ref: str, name: str) -> str:
    """Return the pattern of every way to name this product: reference, name, `Product 12`, `Réf. 012`.

    `ref-012`, `REF 012` and `REF012` are REF-012; `REF-0120` and `Produit 120` are not.
    """
    prefix, _, number = ref.partition("-")
    nouns = {"code": code_nouns(), **{kind: "|".join(_nouns(kind)) for kind in ("product", "number")}}
    loose = rf"(?:{re.escape(prefix)}|{nouns['code']}){SEPARATORS}{re.escape(number)}"
    ways = [loose if number else re.escape(ref)]
    if any(character.isalpha() for character in name) and len(name) <= LONGEST_NAME:
        ways.append(re.escape(name))  # a name of digits alone cannot be told from a stock
        if own := re.fullmatch(r"\D+?(\d+)", name):
            ways.append(
                rf"(?:{nouns['product']})\s*(?:(?:{nouns['number']})?[\s.\u00b0\u00ba#]{{0,3}}){own[1]}(?![.,]\d)"
            )
    # `REF-012s` and `REF-012's` are still REF-012
    return rf"(?<![^\W_])(?:{'|'.join(ways)})(?:['\u2019]?s)?(?![^\W_])"


@lru_cache(maxsize=1)
def code_nouns() -> str:
    """Return the pattern of the nouns that announce a reference's number, in every language: `code`, `réf`, `mã`."""
    return "|".join(_nouns("code"))


def _nouns(kind: str) -> list[str]:
    found = {noun for language in languages() for noun in language.nouns[kind]}
    spelled = found | {unicodedata.normalize("NFD", noun) for noun in found}
    return [re.escape(noun).replace(r"\ ", r"\s+") for noun in sorted(spelled, key=len, reverse=True)]


@lru_cache(maxsize=1024)
def _scanner(ref: str, name: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<product>{names(ref, name)})|(?P<number>{figures.NUMBER.pattern})|(?P<word>{grammar.WORD})"
        r"|(?P<heading>^\#+\s)|(?P<space>[^\S\n]+)|(?P<sign>(?s:.))",
        re.IGNORECASE | re.MULTILINE,
    )


def clauses(text: str, ref: str, name: str, figure: int | None) -> list[Clause]:
    """Return the clauses of `text`; brackets hold clauses of their own: `REF (sold out): 0` is two."""
    text, scan = _without_numbering(_without_boxes(text)), _scanner(ref, name)
    done: list[Clause] = []
    for start, end, is_table in _blocks(text):
        if is_table:
            done += _table(text, start, end, scan, figure)
        else:
            done += _read(text, start, end, scan, figure)
    found = [clause for clause in done if clause.words]
    for spelled in in_words(figure) if figure is not None else ():
        for clause in found:
            clause.replace(spelled, grammar.FIGURE)
    return found


def _read(text: str, start: int, end: int, scan: re.Pattern[str], figure: int | None) -> list[Clause]:
    done, open_ = [], [Clause()]
    for match in scan.finditer(text, start, end):
        kind, said = match.lastgroup, match[0]
        if kind == "product":
            open_[-1].add(grammar.PRODUCT, match.span())
        elif kind == "word":
            open_[-1].add(grammar.plain(said), match.span())
        elif kind == "number":
            open_[-1].add(_number(text, match, figure), match.span())
        elif kind == "heading" or (kind == "sign" and _ends(text, match)):
            if not (said == "\n" and open_[-1].words[-1:] == [":"]):  # what a colon announces is on the next line
                done.append(open_[-1])
                open_[-1] = Clause()
        elif said == "(":
            open_.append(Clause())
        elif said == ")" and len(open_) > 1:
            done.append(open_.pop())
        elif kind == "sign" and said not in NOTHING and not _joins(text, match):
            open_[-1].add(":" if said == "\uff1a" else said, match.span())
            if said == "?":
                done.append(open_[-1])
                open_[-1] = Clause()
    return done + open_


def _number(text: str, match: re.Match[str], figure: int | None) -> str:
    """Return `N` for the figure and nothing else; a number attached to a letter, as in `x69`, is not one.

    With `.` or `,` between thousands it is `N.` or `N,`: whether that is the figure depends on the language.
    """
    before = text[match.start() - 1] if match.start() else ""
    mark = None if before.isalpha() else figures.thousands_mark(match[0], figure)
    return match[0] if mark is None else grammar.FIGURE + (mark if mark in (".", ",") else "")


def _ends(text: str, sign: re.Match[str]) -> bool:
    """Whether a sign ends a clause: a full stop does, and a hyphen followed by white space, as in ` - `."""
    if sign[0] in ENDS:
        return True
    before, after = text[: sign.start()][-1:], text[sign.end() :][:1]
    return sign[0] == "-" and (not before or before.isspace()) and after.isspace()


def _joins(text: str, sign: re.Match[str]) -> bool:
    """Whether a hyphen is between two letters: `out-of-stock` is three words."""
    before, after = text[: sign.start()][-1:], text[sign.end() :][:1]
    return sign[0] in "-\u2010\u2011" and before.isalpha() and after.isalpha()


def _without_boxes(text: str) -> str:
    """Blank the LaTeX box that some models put around an answer; every character keeps its place."""
    return BOXED.sub(lambda box: " " * 7 + box[1] + " ", text) if "\\" in text else text


def _without_numbering(text: str) -> str:
    """Blank the numbers of a list that runs 1, 2, 3; every character keeps its place."""
    found = list(NUMBERED.finditer(text))
    if [int(match[1]) for match in found] != list(range(1, len(found) + 1)):
        return text
    for match in found:
        text = text[: match.start()] + " " * (match.end() - match.start()) + text[match.end() :]
    return text


def _blocks(text: str) -> list[tuple[int, int, bool]]:
    """Return the stretches of the text as (start, end, whether it is a table): lines that begin with a bar."""
    if "|" not in text:
        return [(0, len(text), False)]
    found: list[tuple[int, int, bool]] = []
    at = 0
    for line in text.splitlines(keepends=True):
        is_table = line.lstrip().startswith("|")
        if found and found[-1][2] == is_table:
            found[-1] = (found[-1][0], at + len(line), is_table)
        else:
            found.append((at, at + len(line), is_table))
        at += len(line)
    return found


def _table(text: str, start: int, end: int, scan: re.Pattern[str], figure: int | None) -> list[Clause]:
    """Read a table as `label : value` clauses: its heading over its rows, or the two columns of a list of fields."""
    rows: list[list[Clause]] = []
    at = start
    for line in text[start:end].splitlines(keepends=True):
        if not set(line.strip()) <= RULE:
            cells, place = [], at + line.index("|") + 1
            for cell in line.strip().strip("|").split("|"):
                parts = _read(text, place, place + len(cell), scan, figure)
                cells.append(sum(parts, Clause()))
                place += len(cell) + 1
            rows.append(cells)
        at += len(line)
    if not rows:
        return []
    colon = Clause([":"], [(start, start)])
    if len(rows[0]) == 2 and len(rows) != 2:
        return [row[0] + colon + row[1] if len(row) == 2 else sum(row, Clause()) for row in rows]
    return [
        head + colon + cell if head.words else cell
        for row in rows[1:] or rows
        for head, cell in zip(rows[0] if len(row) == len(rows[0]) else [Clause()] * len(row), row, strict=True)
    ]
