"""`prepare`: build the database that the agent will only ever read, and record its digest."""

import os
import resource
import sqlite3
from collections.abc import Callable
from pathlib import Path

from src.base.errors import Precondition
from src.base.paths import no_entry, no_file
from src.runs import catalog, datafile, own_shop, provenance, store
from src.runs.outputs import Outputs
from src.runs.own_shop import NOTHING, Wanted
from src.runs.records import Shop
from src.tools import create, digest


def prepare(
    outputs: Outputs, data: Path, wanted: Wanted = NOTHING, say: Callable[[str], object] = lambda _: None
) -> Path:
    """Build `stock.db` from the data file and write `prepare.json`; returns the path of the latter.

    A reader's own products and questions become a data file of the folder first, `shop.json`; `say` is told about it.
    Raises `Precondition` when a database exists (a new experiment starts from a fresh copy of the project) or when
    the folder may not be written.
    """
    own = own_shop.made(data, wanted)
    shop = own.shop if own else catalog.shop(data)
    outputs.folder.mkdir(parents=True, exist_ok=True)
    if reason := no_entry(outputs.folder):
        raise Precondition(f"{reason}, or name another folder with --outputs")
    if own and os.path.lexists(outputs.shop) and not outputs.database.exists():
        raise Precondition(
            f"{outputs.shop} exists and is never overwritten; build from it with --data, or name another folder with "
            "--outputs"
        )
    _create(outputs, shop)
    try:
        asked = store.write_json(outputs.shop, shop) if own else data
        record = {
            "provenance": provenance.program(),
            "data": catalog.origin(asked),
            "data_path": datafile.beside(outputs, asked),
            "products": len(shop["products"]),
            "digest": digest(outputs.database),
        }
        if own:
            record["made_from"] = [catalog.origin(path) for path in (data, wanted.questions) if path]
        path = store.write_json(outputs.json("prepare"), record)
    except (OSError, KeyboardInterrupt):
        outputs.database.unlink()  # without its record it would only block the next attempt
        if own:
            outputs.shop.unlink(missing_ok=True)
        raise
    for note in own.notes if own else ():
        say(note)
    return path


def _create(outputs: Outputs, shop: Shop) -> None:
    try:
        create(outputs.database, shop["products"])
    except FileExistsError:
        raise Precondition(
            no_file(outputs.database)
            or f"{outputs.database} exists and is never overwritten; start from a fresh copy of the project, "
            "or name another folder with --outputs"
        ) from None
    except sqlite3.Error as exc:
        why = _remedy(getattr(exc, "sqlite_errorcode", 0) & 0xFF)
        raise Precondition(
            f"{outputs.database} cannot be built ({exc}); {why}name another folder with --outputs"
        ) from None


def _remedy(code: int) -> str:
    """What helps beside another folder; of a bound on the size of files SQLite says "disk I/O error"."""
    if code == sqlite3.SQLITE_FULL:
        return "free some space, or "
    bound = resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY
    return (
        "files may not be that large here (ulimit -f): raise it, or " if code == sqlite3.SQLITE_IOERR and bound else ""
    )
