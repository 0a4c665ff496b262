"""The check on the text of a query: an early, readable refusal, not the barrier.

Text is cut into pieces by SQLite's own rules, so a `;`, `--` or `/*` inside quotes is not taken for one
outside. What slips through here meets the connection (`guard`), which decides on what SQLite compiled.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_QUERY_CHARS = 10_000  # a long report query has under 3,000; parsing and planning time grow with it
READING_WORDS = ("SELECT", "WITH", "VALUES")
MAX_WORD_CHARS = 40  # of an unknown first word, when it is quoted in an error

BLANKS = " \t\n\f\r\ufeff"  # what SQLite skips between words; the byte-order mark is one, no-break space is not
PIECES = re.compile(
    rf"""(?P<blank>[{BLANKS}]+)
       | (?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))     # a comment may be left open at the end
       | (?P<quoted>'[^']*(?:'|\Z)|"[^"]*(?:""[^"]*)*(?:"|\Z)|`[^`]*(?:`|\Z)|\[[^\]]*(?:\]|\Z))
       | (?P<end>;)
       | (?P<other>[^{BLANKS}'"`\[;/-]+|.)""",
    re.DOTALL | re.VERBOSE,
)


class Statement(NamedTuple):
    """The first statement of a text, the word it starts with, and whether another one follows."""

    body: str
    first: str
    more: bool


def pieces(sql: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) from left to right; the texts put together are `sql` again."""
    for match in PIECES.finditer(sql):
        yield str(match.lastgroup), match.group()


def in_backticks(sql: str) -> str:
    """Return `sql` with each name in double quotes in backticks instead, e.g. `"a"` -> `` `a` ``.

    To SQLite both are names, but one in double quotes that fits no column is silently taken for a text.
    """
    return "".join(
        "`" + text[1:-1].replace('""', '"').replace("`", "``") + "`" if kind == "quoted" and text[0] == '"' else text
        for kind, text in pieces(sql)
    )


def strip_sql(sql: str) -> str:
    """Return `sql` without comments and without blanks at its ends, e.g. `-- c\\nSELECT 1 /* x */` -> `SELECT 1`.

    Quoted text is left alone, and a comment that was all that kept two words apart leaves a space.
    """
    kept: list[str] = []
    after_comment = False
    for kind, text in pieces(sql):
        if kind == "comment":
            after_comment = True
            continue
        if after_comment and kept and kept[-1][-1] not in BLANKS and kind != "blank":
            kept.append(" ")
        after_comment = False
        kept.append(text)
    return "".join(kept).strip(BLANKS)


def split_statement(sql: str) -> Statement:
    """Return the first statement of `sql`, unchanged, up to its `;`, e.g. `SELECT ';'; -- end` -> `SELECT ';'`."""
    body_end = len(sql)
    position = 0
    ended = more = False
    for kind, text in pieces(sql):
        if kind == "end" and not ended:
            ended, body_end = True, position
        elif ended and kind in ("quoted", "other"):
            more = True
        position += len(text)
    body = sql[:body_end]
    return Statement(body, first_word(strip_sql(body)), more)


def first_word(clean: str) -> str:
    """Return the first word in capitals, or what stands there instead of a word, cut to 40 characters."""
    word = re.match(r"\w+", clean) or re.match(rf"[^{BLANKS}]*", clean)
    found = word.group()[:MAX_WORD_CHARS] if word else ""
    return found.upper() if found.isascii() else found  # subtle: 'ſELECT'.upper() is 'SELECT'


def text_fault(sql: str) -> str | None:
    """Say why the text cannot be one reading statement, in the lesson's words, or None."""
    statement = split_statement(sql)
    if not statement.first and not statement.more:
        return "consulta vacía"
    if statement.more:
        return "más de una sentencia"
    if statement.first not in READING_WORDS:
        return f"no es de solo lectura (empieza con {statement.first})"
    return None
