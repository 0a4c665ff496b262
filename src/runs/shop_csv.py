"""A reader's own products or questions as a spreadsheet exports them: a CSV file, read row by row.

UTF-8 with or without a byte order mark; comma, semicolon or tab; the columns in any order, named in the header line in
English, Spanish, Vietnamese or French. Every bad row is named with its line and reason, and one is enough to refuse the
file: nothing is guessed, left out or half read. Standard library only.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from src.base.errors import Precondition
from src.base.printable import excerpt
from src.runs.store import read_bytes

DELIMITERS = ",;\t"
NAMED = 20  # bad rows that an error lists
# The names of the columns, as a person writes them; compared without case.
PRODUCT_COLUMNS = {
    "ref": ("ref", "reference", "référence", "referencia", "code", "código", "mã", "mã sản phẩm", "mã hàng", "sku"),
    "name": ("name", "product", "nombre", "producto", "tên", "tên sản phẩm", "sản phẩm", "nom", "produit"),
    "stock": ("stock", "quantity", "qty", "existencias", "cantidad", "tồn kho", "số lượng", "quantité"),
}
QUESTION_COLUMNS = {"question": ("question", "query", "pregunta", "câu hỏi"), "ref": PRODUCT_COLUMNS["ref"]}
# What a spreadsheet's file begins with when it was not exported.
FOREIGN = {
    b"PK\x03\x04": "is a workbook (.xlsx, .ods), not an export",
    b"\xd0\xcf\x11\xe0": "is a workbook (.xls), not an export",
    b"\xff\xfe": "is UTF-16 text",
    b"\xfe\xff": "is UTF-16 text",
}
SAVE_AS = "save it as 'CSV UTF-8'"


@dataclass
class Row:
    """A record of the file: the line that it begins on, and its cells by the name of their column."""

    line: int
    cells: dict[str, str]


@dataclass
class Table:
    """What a file holds; `faults` are its bad rows so far, by line."""

    path: Path
    rows: list[Row] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # other columns, as they are named
    faults: list[tuple[int, str]] = field(default_factory=list)
    unit: str = "line"  # what rows are counted by

    def check(self) -> None:
        """Raise `Precondition` where a row is bad, naming the first `NAMED` of those, or where there is none at all."""
        if not self.faults and self.rows:
            return
        if not self.faults:
            raise Precondition(f"{self.path} holds nothing below its header; add a row")
        lines = [f"{self.unit} {line}: {why}" for line, why in sorted(self.faults)]
        more = [f"… and {len(lines) - NAMED} more"] if len(lines) > NAMED else []
        rows = "1 bad row" if len(lines) == 1 else f"{len(lines)} bad rows"
        raise Precondition(
            f"{self.path}: {rows}, nothing was built; correct what is listed above and run it again",
            [*lines[:NAMED], *more],
        )


def is_json(path: Path) -> bool:
    """Say whether a file is meant to be JSON rather than rows of a spreadsheet: by how its content begins."""
    return read_bytes(path).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")


def read(path: Path, columns: Mapping[str, Sequence[str]], optional: Sequence[str] = ()) -> Table:
    """Return the rows of a file with these columns; empty rows are left out, as a spreadsheet leaves them behind.

    Raises `Precondition` when it is not such a text, or lacks a column that is not `optional`.
    """
    text = _text(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(DELIMITERS, key=lambda each: (len(_places(_cells(first, each), columns)), first.count(each)))
    table = Table(path)
    records = _records(text, delimiter, table)
    line, header = next(records, (1, []))
    places = _places(header, columns)
    if twice := [header[place] for place in places.values() if _written(header).count(_plain(header[place])) > 1]:
        raise Precondition(f"{path}: line {line} names {excerpt(twice[0])} twice; leave one of these columns out")
    if missing := [name for name in columns if name not in places and name not in optional]:
        raise Precondition(
            f"{path}: line {line} lacks {', '.join(missing)}: {excerpt(delimiter.join(header)) or 'it is empty'}; "
            f"it must name the columns {', '.join(name for name in columns if name not in optional)}"
        )
    table.ignored = [name.strip() for place, name in enumerate(header) if place not in places.values() and name.strip()]
    for line, cells in records:
        if len(cells) > len(header) and any(cells[len(header) :]):
            table.faults.append(
                (line, f"{len(cells)} cells, and the header has {len(header)}: put quotes around a text")
            )
            continue
        row = {name: cells[place].strip() if place < len(cells) else "" for name, place in places.items()}
        if any(row.values()):
            table.rows.append(Row(line, row))
    return table


def _text(path: Path) -> str:
    """The file as text; `Precondition` names the line of the first byte that is not UTF-8."""
    try:
        data = read_bytes(path)
    except OSError as exc:
        raise Precondition(f"{path} cannot be read ({exc.strerror}); name another file") from None
    for start, what in FOREIGN.items():
        if data.startswith(start):
            raise Precondition(f"{path} {what}; in the spreadsheet, {SAVE_AS}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = data[: exc.start].count(b"\n") + 1
        raise Precondition(f"{path}: line {line} is not UTF-8 (byte {data[exc.start]:#04x}); {SAVE_AS}") from None


def _records(text: str, delimiter: str, table: Table) -> Iterator[tuple[int, list[str]]]:
    """The records with the line that each begins on; a fault of the notation itself ends the file and is a bad row."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begin = 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as exc:
            what = "a quotation mark is not closed" if "end of data" in str(exc) else str(exc)
            table.faults.append((begin, f"{what}; the rows below it were not read"))
            return
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield begin, cells
        begin = reader.line_num + 1


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


def _places(header: Sequence[str], columns: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return where each column is: under its own name if there is one, else under another of its names."""
    written = _written(header)
    found: dict[str, int] = {}
    for column, names in columns.items():
        if (place := next((written.index(name) for name in names if name in written), None)) is not None:
            found[column] = place
    return found


def _written(header: Sequence[str]) -> list[str]:
    return [_plain(cell) for cell in header]


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text).casefold()).strip()
