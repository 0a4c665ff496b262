"""`prepare`: build the database that the agent will only ever read, and record its digest."""

import sqlite3
from pathlib import Path

from src.base.errors import Precondition
from src.base.paths import no_entry
from src.runs import catalog, datafile, provenance, store
from src.runs.outputs import Outputs
from src.tools import create, digest


def prepare(outputs: Outputs, data: Path) -> Path:
    """Build `stock.db` from the data file and write `prepare.json`; returns the path of the latter.

    Raises `Precondition` when a database exists (a new experiment starts from a fresh copy of the project) or when
    the folder may not be written.
    """
    products = catalog.shop(data)["products"]
    outputs.folder.mkdir(parents=True, exist_ok=True)
    if reason := no_entry(outputs.folder):
        raise Precondition(f"{reason}, or name another folder with --outputs")
    try:
        create(outputs.database, products)
    except FileExistsError:
        if not outputs.database.exists():
            raise Precondition(
                f"{outputs.database} is a link to something that is not there; remove it, or bring that back"
            ) from None
        raise Precondition(
            f"{outputs.database} exists and is never overwritten; start from a fresh copy of the project, "
            "or name another folder with --outputs"
        ) from None
    except sqlite3.Error as exc:
        raise Precondition(
            f"{outputs.database} cannot be built ({exc}); free some space, or name another folder with --outputs"
        ) from None
    record = {
        "provenance": provenance.program(),
        "data": catalog.origin(data),
        "data_path": datafile.beside(outputs, data),
        "products": len(products),
        "digest": digest(outputs.database),
    }
    try:
        return store.write_json(outputs.json("prepare"), record)
    except (OSError, KeyboardInterrupt):
        outputs.database.unlink()  # without its record it would only block the next attempt
        raise
