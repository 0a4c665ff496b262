"""Statements that SQLite accepts, and that answer something else than what was asked: an error says what to write.

Each rule looks at a form that has no honest use, so that nothing is refused that means what it says. What can be meant
is left to SQLite; docs/RUN_SQL.md lists it, each with an example.
"""

import re
from collections.abc import Callable, Collection, Iterator
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
TEXTUAL = frozenset(TEXT_FUNCTIONS.split())
NUMERIC = frozenset(NUMBER_FUNCTIONS.split())

TOKEN = re.compile(
    r"""\s+
      | (?P<text>'(?:[^']|'')*') | (?P<name>"(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\])
      | (?P<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)? | \.\d+)
      | (?P<other>\w+ | <> | [=<>!]= | \|\| | << | >> | ->>? | .)""",
    re.DOTALL | re.VERBOSE,
)
DATE = re.compile(r"'(\d{4})-(\d{1,2})-(\d{1,2})([ T].*)?'", re.ASCII | re.DOTALL)


class Misread(ValueError):
    """The statement would not be read as its author meant it; the text, in the lesson's Spanish, says what to write."""


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


class Statement:
    """The tokens of a statement, and what begins at a place in them."""

    def __init__(self, sql: str) -> None:
        """Cut the text into tokens, without blanks and comments."""
        self.tokens = [
            Token(match.group(), match.group().upper() if match.lastgroup == "other" else str(match.lastgroup))
            for match in TOKEN.finditer(strip_sql(sql))
            if match.lastgroup
        ]

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
            return Operand(type_, False, f"{self.tokens[first].text}(…)", self.closing(first + 1))
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


def sorted_by_a_text(statement: Statement) -> Iterator[str]:
    """`GROUP BY 'tier'`, `ORDER BY 'name'`: a text that is the same for every row."""
    for place in range(len(statement.tokens)):
        if statement.key(place) not in SORTING or statement.key(place + 1) != "BY":
            continue
        term = place + 2
        while term < len(statement.tokens):
            if statement.key(term) == "text" and statement.key(term + 1) in BEHIND:
                clause = f"{statement.key(place)} BY {statement.tokens[term].text}"
                yield f"{clause} usa un texto fijo, no una columna; quita las comillas simples"
            while statement.key(term) not in {",", ")", "", *SORTING_ENDS}:
                term = statement.closing(term) if statement.key(term) == "(" else term + 1
            if statement.key(term) != ",":
                break
            term += 1


def number_beside_or(statement: Statement) -> Iterator[str]:
    """`capacity = 4 OR 6`: a number other than 0 and 1 is no condition, and always true."""
    for place, token in enumerate(statement.tokens):
        if token.key == "OR" and statement.key(place + 1) == "number" and statement.key(place + 2) in BEHIND:
            number = statement.tokens[place + 1].text
            if number not in ("0", "1"):
                yield f"OR {number} no compara nada y siempre es cierto; repite la columna o escribe IN (…, {number})"


def unpadded_date(statement: Statement) -> Iterator[str]:
    """`starts_at < '2026-3-2'`: dates are compared as texts, character by character."""
    for place, token in enumerate(statement.tokens):
        before, behind = statement.key(place - 1), statement.key(place + 1)
        compared = behind in COMPARING or (before in COMPARING | {"BETWEEN", "AND"} and behind in BEHIND)
        found = DATE.fullmatch(token.text) if token.key == "text" and compared else None
        if found:
            year, month, day, rest = found.groups()
            if len(month) + len(day) < 4:
                right = f"'{year}-{month:0>2}-{day:0>2}{rest or ''}'"
                yield f"las fechas se comparan como texto: escribe {right} en lugar de {token.text}"


def other_types(statement: Statement) -> Iterator[str]:
    """`strftime('%Y', d) = 2026`, `SUM(x) < '1'`: to SQLite every number is less than every text."""
    for left, operator, right in statement.compared():
        types = {left.type, right.type}
        if types == {"text", "number"} and not (left.literal and right.literal) and operator not in ("LIKE", "GLOB"):
            literal = right if right.literal else left
            advice = "escribe el número sin comillas" if literal.type == "text" else "escribe el número entre comillas"
            shown = f"{left.text} {operator} {right.text}"
            yield f"{shown} compara un texto con un número, que nunca son iguales; {advice}"


def column_in_quotes(statement: Statement, columns: Callable[[], Collection[str]]) -> Iterator[str]:
    """`'tier' = 'pro'`: a column's name in single quotes is a text."""
    for left, operator, right in statement.compared():
        for side in (left, right):
            if left.literal and right.literal and side.type == "text" and side.text[1:-1].lower() in columns():
                shown = f"{left.text} {operator} {right.text}"
                yield f"{shown} no usa ninguna columna: {side.text} es un texto; quita sus comillas"


def check(sql: str, columns: Callable[[], Collection[str]]) -> None:
    """Raise Misread for the first pitfall of a statement that compiles; `columns` returns the names in lower case."""
    statement = Statement(sql)
    rules = (sorted_by_a_text, number_beside_or, unpadded_date, other_types)
    for faults in (*(rule(statement) for rule in rules), column_in_quotes(statement, columns)):
        for fault in faults:
            raise Misread(fault)
