"""Statements that SQLite accepts, and that answer something else than what was asked: an error says what to write.

Each rule looks at a form that has no honest use, so that nothing is refused that means what it says. What can be meant
is left to SQLite; docs/RUN_SQL.md lists it, each with an example.
"""

import re
from collections.abc import Callable, Collection, Iterator

from src.run_sql import dates
from src.run_sql.tokens import BEHIND, COMPARING, SORTING, SORTING_ENDS, Statement

AGGREGATES = frozenset(["AVG", "COUNT", "MAX", "MIN", "SUM", "TOTAL"])
ORDERING = frozenset(["<", "<=", ">", ">="])
CLAUSES = ("WHERE", "HAVING", "ON")  # what follows is a condition
OPENING = ("(", *CLAUSES)


class Misread(ValueError):
    """The statement would not be read as its author meant it; the text, in the lesson's Spanish, says what to write."""


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


def no_condition(statement: Statement) -> Iterator[str]:
    """`capacity = 4 OR 6`, `tier = 'pro' OR 'basic'`: a number other than 0 and 1, or a text, is no condition."""
    for place, token in enumerate(statement.tokens):
        if token.key not in ("text", "number") or token.text in ("0", "1"):
            continue
        before, behind = place - 1, place + 1
        opened = statement.key(before) in OPENING and statement.key(behind) in ("AND", "OR")
        joined = statement.key(before) in ("AND", "OR", *CLAUSES) and statement.key(behind) in BEHIND
        if (opened or joined) and not {before, behind} & statement.ranges:
            word = statement.key(before if joined else behind)
            shown = f"{word} {token.text}" if joined else f"{token.text} {word}"
            why = "siempre es cierto" if token.key == "number" else "un texto no es una condición"
            yield f"{shown} no compara nada y {why}; repite la columna o escribe IN (…, {token.text})"


def compared_with_null(statement: Statement) -> Iterator[str]:
    """`note = NULL`, `note NOT IN ('x', NULL)`: nothing is equal to NULL, and nothing differs from it."""
    for place, token in enumerate(statement.tokens):
        before, behind = statement.key(place - 1), statement.key(place + 1)
        if token.key != "NULL":
            continue
        if before in COMPARING and behind in BEHIND and statement.key(place - 2) not in ("text", "number", "NULL"):
            advice = "IS NOT NULL" if before in ("<>", "!=") else "IS NULL"
            yield f"{before} NULL nunca es cierto; escribe {advice}"
        elif before in ("(", ",") and behind in (")", ",") and statement.called(place) == "IN":
            yield "IN (…, NULL) no encuentra los NULL, y con NOT no encuentra nada; escribe IS NULL aparte"


def compared_twice(statement: Statement) -> Iterator[str]:
    """`4 < capacity < 6`: the second comparison is with the result of the first, which is 0 or 1."""
    for place, token in enumerate(statement.tokens):
        if token.key not in ORDERING:
            continue
        found = statement.operand(place + 1)
        end = found.end if found else place + (4 if statement.key(place + 2) == "." else 2)
        if statement.key(end) in ORDERING:
            shown = f"{token.text} {statement.text(place + 1, end)} {statement.tokens[end].text}"
            yield f"… {shown} … compara 0 o 1, el resultado de la primera comparación; une dos con AND"


def count_of_a_condition(statement: Statement) -> Iterator[str]:
    """`COUNT(amount_cents > 900)`: what is false is counted too, only NULL is not."""
    for place, token in enumerate(statement.tokens):
        if token.key != "COUNT" or statement.key(place + 1) != "(":
            continue
        inner = {
            statement.key(each)
            for each in range(place + 2, statement.closing(place + 1))
            if statement.holders[each] == place + 1
        }
        if inner & COMPARING and not inner & {"CASE", "NULL", "SELECT"}:
            yield "COUNT(…) cuenta también lo que no cumple la condición; escribe COUNT(*) FILTER (WHERE …)"


def added_to_a_text(statement: Statement) -> Iterator[str]:
    """`name + '!'`: a text that is no number counts as 0."""
    for place, token in enumerate(statement.tokens):
        if (
            token.key == "text"
            and "+" in (statement.key(place - 1), statement.key(place + 1))
            and not number(token.text)
        ):
            yield f"+ suma números, y {token.text} cuenta como 0; para unir textos escribe ||"


def number(text: str) -> bool:
    """Whether a text literal begins like a number, which is what SQLite reads of it."""
    return re.match(r"'\s*[-+]?\.?\d", text, re.ASCII) is not None


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


def aggregate_of_a_name(statement: Statement, columns: Callable[[], Collection[str]]) -> Iterator[str]:
    """`SUM('amount_cents')`: the sum of a text, once for each row."""
    for place, token in enumerate(statement.tokens):
        if token.key not in AGGREGATES or statement.key(place + 1) != "(":
            continue
        inner = place + 2 + (statement.key(place + 2) == "DISTINCT")
        if statement.key(inner) == "text" and statement.key(inner + 1) == ")":
            literal = statement.tokens[inner].text
            if literal[1:-1].lower() in columns():
                yield f"{token.text}({literal}) usa un texto, no la columna; quita sus comillas"


def check(sql: str, columns: Callable[[], Collection[str]]) -> None:
    """Raise Misread for the first pitfall of a statement that compiles; `columns` returns the names in lower case."""
    statement = Statement(sql)
    rules = (
        sorted_by_a_text, no_condition, compared_with_null, compared_twice, count_of_a_condition, added_to_a_text,
        dates.written_otherwise, other_types, dates.never_fits,
    )  # fmt: skip
    named = (column_in_quotes, aggregate_of_a_name)
    for faults in (*(rule(statement) for rule in rules), *(rule(statement, columns) for rule in named)):
        for fault in faults:
            raise Misread(fault)
