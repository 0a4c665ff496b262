"""A statement as a list of tokens, and what begins at a place in it: a literal, a call, a comparison.

Enough of SQLite's grammar for the rules of `pitfalls` and `dates`, and no more: what is not understood here is nothing
that a rule speaks about.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from src.run_sql.text import strip_sql

OPERATORS = "= == <> != < <= > >="
SORTERS = "GROUP ORDER PARTITION"
OPENERS = "( , SELECT DISTINCT WHERE AND OR NOT ON HAVING WHEN THEN ELSE BY"
SORTING_ENDERS = "SELECT HAVING LIMIT WINDOW UNION EXCEPT INTERSECT ORDER ROWS RANGE GROUPS"
ENDERS = ") , ; AND OR THEN ELSE END FROM WHERE GROUP ASC DESC NULLS COLLATE AS JOIN LEFT INNER CROSS"
TEXT_FUNCTIONS = """
    char date datetime group_concat hex lower ltrim quote replace rtrim strftime substr substring time trim typeof upper
"""
NUMBER_FUNCTIONS = "abs avg count instr julianday length round sum total unicode unixepoch"

COMPARING = frozenset(OPERATORS.split())
SORTING = frozenset(SORTERS.split())
SORTING_ENDS = frozenset(SORTING_ENDERS.split())
# A term begins after one of BEFORE, and is whole before one of BEHIND; the empty word is either end of the statement.
BEFORE = frozenset(["", *OPENERS.split()])
BEHIND = frozenset(["", *ENDERS.split()]) | SORTING_ENDS
ALONE = frozenset([*BEFORE, *COMPARING]) - {"", ")"}  # before a parenthesis that groups, and calls nothing
TEXTUAL = frozenset(TEXT_FUNCTIONS.split())
NUMERIC = frozenset(NUMBER_FUNCTIONS.split())

TOKEN = re.compile(
    r"""\s+
      | (?P<text>'(?:[^']|'')*') | (?P<name>"(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\])
      | (?P<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)? | \.\d+)
      | (?P<other>\w+ | <> | [=<>!]= | \|\| | << | >> | ->>? | .)""",
    re.DOTALL | re.VERBOSE,
)


class Token(NamedTuple):
    """A piece of a statement; `key` is `text`, `name` or `number`, and for a word or sign itself, in capitals."""

    text: str
    key: str


class Operand(NamedTuple):
    """A literal or a function's call, with the type of its value (`text`, `number`, `null`) and where it ends."""

    type: str
    literal: bool
    text: str
    end: int
    function: str = ""  # in lower case, empty for a literal
    argument: str = ""  # of the function, the first if it is a literal


class Statement:
    """The tokens of a statement, and what begins at a place in them."""

    def __init__(self, sql: str) -> None:
        """Cut the text into tokens, without blanks, comments and the parentheses around a text alone."""
        cut = [
            Token(match.group(), match.group().upper() if match.lastgroup == "other" else str(match.lastgroup))
            for match in TOKEN.finditer(strip_sql(sql))
            if match.lastgroup
        ]
        self.tokens: list[Token] = []
        for token in cut:
            self.tokens.append(token)
            if [each.key for each in self.tokens[-3:]] == ["(", "text", ")"] and self.key(
                len(self.tokens) - 4
            ) in ALONE:
                self.tokens[-3:] = [self.tokens[-2]]
        # Of each token the place of the parenthesis that it stands in, or -1; and each AND that ends a BETWEEN.
        self.holders: list[int] = []
        self.ranges: set[int] = set()
        self._nest()

    def _nest(self) -> None:
        holders, open_ranges = [-1], [0]
        for place, token in enumerate(self.tokens):
            if token.key == ")" and len(holders) > 1:
                holders.pop()
                open_ranges.pop()
            self.holders.append(holders[-1])
            if token.key == "(":
                holders.append(place)
                open_ranges.append(0)
            elif token.key == "BETWEEN":
                open_ranges[-1] += 1
            elif token.key == "AND" and open_ranges[-1]:
                open_ranges[-1] -= 1
                self.ranges.add(place)

    def called(self, place: int) -> str:
        """Return, in capitals, the word before the parenthesis that a token stands in: a function's name, or `IN`."""
        return self.key(self.holders[place] - 1)

    def key(self, place: int) -> str:
        """Return the key of the token there, empty outside of the statement."""
        return self.tokens[place].key if 0 <= place < len(self.tokens) else ""

    def text(self, start: int, end: int) -> str:
        """Return the tokens from one place to another as they are shown in an error."""
        return " ".join(token.text for token in self.tokens[start:end]).replace(" ( ", "(").replace(" )", ")")

    def closing(self, place: int) -> int:
        """Return the place behind the parenthesis that closes the one at `place`."""
        depth = 0
        for end in range(place, len(self.tokens)):
            depth += {"(": 1, ")": -1}.get(self.key(end), 0)
            if depth == 0:
                return end + 1
        return len(self.tokens)

    def operand(self, place: int) -> Operand | None:
        """Return the literal or the call of a function of a known type that begins there."""
        first = place + (self.key(place) == "-" and self.key(place + 1) == "number")
        key = self.key(first)
        if key in ("text", "number", "NULL"):
            return Operand(key.lower(), True, self.text(place, first + 1), first + 1)
        function = key.lower()
        if self.key(first + 1) == "(" and (function in TEXTUAL or function in NUMERIC):
            type_ = "text" if function in TEXTUAL else "number"
            argument = self.tokens[first + 2].text if self.key(first + 2) == "text" else ""
            shown = f"{self.tokens[first].text}(…)"
            return Operand(type_, False, shown, self.closing(first + 1), function, argument)
        return None

    def comparison(self, place: int) -> tuple[str, int]:
        """Return the operator that stands there, empty if none does, and where its right side begins."""
        if self.key(place) == "NOT":
            place += 1
        key = self.key(place)
        if key == "IN" and self.key(place + 1) == "(":
            return key, place + 2
        if key == "IS" and self.key(place + 1) == "NOT":
            return key, place + 2
        return (key, place + 1) if key in COMPARING or key in ("BETWEEN", "LIKE", "GLOB", "IS") else ("", place)

    def compared(self) -> Iterator[tuple[Operand, str, Operand]]:
        """Yield each comparison of two operands that are whole terms."""
        for place in range(len(self.tokens)):
            left = self.operand(place) if self.key(place - 1) in BEFORE else None
            if left is None:
                continue
            operator, start = self.comparison(left.end)
            right = self.operand(start) if operator else None
            if right and self.key(right.end) in BEHIND:
                yield left, operator, right
