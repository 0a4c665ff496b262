"""Dates and times in a statement: SQLite has them as texts, so what is not written as it writes them never fits.

The rules are used by `pitfalls`.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from src.run_sql.tokens import BEHIND, COMPARING, Operand, Statement

DATE = re.compile(r"'(\d{4})([-/.])(\d{1,2})\2(\d{1,2})([ T].*)?'", re.ASCII | re.DOTALL)
DAY_FIRST = re.compile(r"'(\d{1,2})([-/.])(\d{1,2})\2(\d{4})([ T].*)?'", re.ASCII | re.DOTALL)
HOUR = re.compile(r"'(\d:\d\d(?::\d\d)?)'", re.ASCII)
READ = re.compile(r"'\d{4}-\d\d-\d\d", re.ASCII)  # what the functions understand, with T as well
READERS = frozenset(["DATE", "TIME", "DATETIME", "JULIANDAY", "UNIXEPOCH", "STRFTIME"])
FORMS = {"date": "%Y-%m-%d", "time": "%H:%M:%S", "datetime": "%Y-%m-%d %H:%M:%S"}
CODES = frozenset("YmdHMSjwW%")  # of strftime, those that give as many digits each time, and mean the same to Python
SAMPLE = datetime(2026, 3, 2, 9, 5, 7, tzinfo=UTC)
EQUAL = frozenset(["=", "==", "<>", "!=", "IS", "IN"])


def well_written(text: str) -> str | None:
    """Return how SQLite writes the date or the hour in a literal, None where it is written so or is neither."""
    if found := DATE.fullmatch(text):
        year, _, month, day, rest = found.groups()
    elif found := DAY_FIRST.fullmatch(text):
        day, _, month, year, rest = found.groups()
    elif found := HOUR.fullmatch(text):
        return f"'0{found[1]}'"
    else:
        return None
    right = f"'{year}-{month:0>2}-{day:0>2}{(rest or '').replace('T', ' ', 1)}'"
    return right if right != text else None


def written_otherwise(statement: Statement) -> Iterator[str]:
    """`starts_at < '2026-3-2'`, `date('2/3/2026')`: a date in another form is compared as a text, or is NULL."""
    for place, token in enumerate(statement.tokens):
        right = well_written(token.text) if token.key == "text" else None
        if right is None:
            continue
        before, behind = statement.key(place - 1), statement.key(place + 1)
        compared = behind in COMPARING or (before in COMPARING | {"BETWEEN", "AND"} and behind in BEHIND)
        if compared or statement.called(place) == "IN":
            yield f"las fechas se comparan como texto: escribe {right} en lugar de {token.text}"
        elif before in ("(", ",") and (reader := statement.called(place)) in READERS and not READ.match(token.text):
            yield f"{reader.lower()}(…) no entiende {token.text} y da NULL; escribe {right}"


def form(operand: Operand) -> str:
    """Return what a call of a date function gives for a sample moment, e.g. `09` for strftime('%H', …); else empty."""
    pattern = FORMS.get(operand.function)
    if operand.function == "strftime":
        pattern = operand.argument[1:-1]
    if not pattern or not set(re.findall(r"%(.)", pattern)) <= CODES:
        return ""
    return SAMPLE.strftime(pattern)


def shape(text: str) -> str:
    """Return a text with each digit as 0, e.g. `00:00` for `09:30`."""
    return re.sub(r"[0-9]", "0", text)


def never_fits(statement: Statement) -> Iterator[str]:
    """`strftime('%m', d) = '3'`, `time(d) < '9'`: the values have one form, and the text beside them has another."""
    for left, operator, right in statement.compared():
        for call, literal in ((left, right), (right, left)):
            sample = form(call)
            if not sample or not literal.literal or literal.type != "text" or operator in ("LIKE", "GLOB"):
                continue
            given, whole = shape(literal.text[1:-1]), shape(sample)
            if given != whole and (operator in EQUAL or not whole.startswith(given)):
                yield f"{left.text} {operator} {right.text} no encaja: {call.text} da textos como '{sample}'"
