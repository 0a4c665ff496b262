"""The third read tool, `lister_stock_bas(seuil)`: which of the caller's products have at most `seuil` pieces left.

It has checks of its own beside `toolcall()`, which stays as it is. Reading only, with SQL that we wrote; that SQL
leaves out the rows of others, since what was never read cannot leak.
"""

import json
import sqlite3
from collections.abc import Iterable
from typing import TypeGuard, cast

from src.base.records import JsonObject, Product
from src.going_further.records import LowStock
from src.tools import COLUMNS

TOOL = "lister_stock_bas"
MAX_THRESHOLD = 20  # pieces: "almost sold out", not a way to list the whole shop
MAX_ROWS = 10  # an observation goes back into a prompt
READ = (
    "SELECT ref,name,stock FROM products WHERE stock<=? AND ref IN (SELECT value FROM json_each(?))"
    " ORDER BY stock,ref LIMIT ?"
)


SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "outil": {"const": TOOL},
        "arguments": {
            "type": "object",
            "properties": {"seuil": {"type": "integer", "minimum": 0, "maximum": MAX_THRESHOLD}},
            "required": ["seuil"],
            "additionalProperties": False,
        },
    },
    "required": ["outil", "arguments"],
    "additionalProperties": False,
}


def names_it(call: object) -> TypeGuard[JsonObject]:
    """Whether a call, of any type, names this tool; anything else is left to `toolcall()`."""
    return _has_plain_keys(call) and type(call.get("outil")) is str and call["outil"] == TOOL


def threshold(call: JsonObject) -> int:
    """Return the threshold of a well-formed call of this tool; `ValueError` for any other."""
    if set(call) != {"outil", "arguments"}:
        raise ValueError("Outil interdit ou appel mal formé")
    args = call["arguments"]
    most = args["seuil"] if _has_plain_keys(args) and set(args) == {"seuil"} else None
    if type(most) is not int or not 0 <= most <= MAX_THRESHOLD:
        raise ValueError("Seuil ou arguments invalides")
    return most


def _has_plain_keys(value: object) -> TypeGuard[JsonObject]:
    """Exact types, as in `toolcall()`: a subclass may bring its own == and hash."""
    return type(value) is dict and all(type(key) is str for key in value)


def read(db: sqlite3.Connection, most: int, references: Iterable[str]) -> LowStock:
    """Return the products among `references` with at most `most` pieces, the fewest first, at most `MAX_ROWS`."""
    rows = db.execute(READ, (most, json.dumps(sorted(references)), MAX_ROWS)).fetchall()
    return {"products": [cast(Product, dict(zip(COLUMNS, row, strict=True))) for row in rows]}
