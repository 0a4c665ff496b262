"""Text laid out for a terminal: its width, wrapped lines with an indent, tables that fit, colour where it is wanted.

A pipe has a width of its own and never a colour. Foreign text is made safe here as `printable` does it; what is printed
are results, on stdout. Standard library only.
"""

import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Sequence

from src.base.printable import shown

PIPE = 80  # columns where no terminal says how many
LEAST, MOST = 60, 120  # columns of a terminal that are used; longer lines are hard to read
STYLES = {"strong": "1", "aside": "2", "good": "32", "bad": "31", "warning": "33"}  # SGR parameters of a terminal
GAP = "  "  # between two columns of a table
LEAST_COLUMN = 24  # of a first column that is wrapped, lest each word stand on a line of its own

Piece = str | tuple[str, str]  # a text, or a text and its style


def width() -> int:
    """Return the columns that a line may take: those of the terminal, of COLUMNS where it is set, or of a pipe."""
    return max(LEAST, min(MOST, shutil.get_terminal_size((PIPE, 24)).columns))


def coloured() -> bool:
    """Whether stdout takes colours: a terminal that knows them, and nobody has set NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def put(*pieces: Piece) -> None:
    """Print pieces of text on stdout, made safe, each in its style; then flush, as `printable.say` does."""
    colours, made = coloured(), []
    for piece in pieces:
        text, style = (piece, "") if isinstance(piece, str) else piece
        safe = shown(text)
        made.append(f"\x1b[{STYLES[style]}m{safe}\x1b[0m" if colours and style and safe.strip() else safe)
    print("".join(made), flush=True)


def signed(indent: str, mark: tuple[str, str], text: str) -> None:
    """Print a text behind a sign and its style, its further lines below its first."""
    sign, style = mark
    head = f"{indent}{sign} "
    put((head, style), wrapped(text, head).removeprefix(head))


def cells(text: str) -> int:
    """Return the columns that a text takes: two for a wide character, none for a mark upon the one before."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in unicodedata.normalize("NFC", text)
    )


def wrapped(text: str, first: str = "", rest: str | None = None, columns: int | None = None) -> str:
    """Return a text in lines of at most `columns`, the first one begun by `first`, the others by `rest`.

    `rest` is as many spaces as `first` is wide where it is not given. A line break in the text stays one; a word
    that is wider than a line, such as a path, is broken.
    """
    room, indent = columns or width(), " " * cells(first) if rest is None else rest
    made: list[str] = []
    line = first
    for number, part in enumerate(text.split("\n")):
        if number:
            made.append(line)
            line = indent
        for word in _words(part, room - max(cells(first), cells(indent))):
            if cells(line + word.rstrip()) > room:
                made.append(line)
                line = indent
            line += word
    return "\n".join(each.rstrip() for each in [*made, line])


def _words(text: str, room: int) -> Iterator[str]:
    """The words of a text with the spaces behind them; a word that has no room comes in pieces that have."""
    for word in re.findall(r"\S+\s*|\s+", text):
        piece = ""
        for character in word:
            if not character.isspace() and cells(piece + character) > room:
                yield piece
                piece = ""
            piece += character
        yield piece


def table(lines: Sequence[Sequence[str]], columns: int | None = None) -> str:
    """Return lines of cells as columns, the first line as the head; the first cell to the left, others right.

    Where they do not fit, the first column is wrapped; where that is not enough, the others come in several tables
    below each other, each with the first column.
    """
    room = columns or width()
    widths = [max(cells(row[place]) for row in lines) for place in range(len(lines[0]))]
    first = min(widths[0], max(LEAST_COLUMN, room - sum(len(GAP) + other for other in widths[1:])))
    drawn, start = [], 1
    while start < len(widths):
        end, used = start, first
        while end < len(widths) and (end == start or used + len(GAP) + widths[end] <= room):
            used += len(GAP) + widths[end]
            end += 1
        drawn.append(_drawn([[row[0], *row[start:end]] for row in lines], [first, *widths[start:end]]))
        start = end
    return "\n\n".join(drawn)


def _drawn(lines: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    """One table, whose first column is wrapped to its width; the other cells stand beside its first line."""
    made = []
    for number, row in enumerate(lines):
        first, *more = wrapped(row[0], rest=GAP, columns=widths[0]).split("\n")
        others = (" " * (width - cells(cell)) + cell for cell, width in zip(row[1:], widths[1:], strict=True))
        made += [GAP.join([first + " " * (widths[0] - cells(first)), *others]).rstrip(), *more]
        if number == 0:
            made.append(GAP.join("-" * width for width in widths))
    return "\n".join(made)
