"""Which data file a folder of results is about, so that `--data` has to be given only once.

`prepare` and the journal keep its path relative to the folder of results, so that both may move together, and so that
no folder of this machine gets into a record that is passed on.
"""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from src.base.errors import Precondition
from src.base.paths import ROOT, near
from src.base.printable import excerpt
from src.base.records import JsonValue
from src.runs import catalog, runfile, store
from src.runs.outputs import Outputs
from src.runs.records import DataFile

NAME_IT = "name the data file with --data"


def beside(outputs: Outputs, data: Path) -> str:
    """Return the path of a data file as the folder of results keeps it, e.g. `../data/products.json`."""
    return os.path.relpath(data.resolve(), outputs.folder.resolve())


def found(outputs: Outputs, origin: DataFile, path: str) -> Path:
    """Return where a data file is, by its digest at `path` or in the project, else whatever is at `path` by now.

    `path` is one that `beside` made, or empty. Raises `Precondition` when there is nothing.
    """
    there = Path(os.path.normpath(outputs.folder.resolve() / path))
    for likely in (there, ROOT / "data" / Path(origin["file"]).name):
        if os.path.isfile(likely) and catalog.origin(likely) == origin:  # noqa: PTH113 (the name may be any text)
            return near(likely)
    if not there.is_file():
        named = near(there) if path else excerpt(origin["file"])
        raise Precondition(f"{named}, which {outputs.folder} is about, is not there any more; {NAME_IT}")
    return near(there)


def built_from(outputs: Outputs) -> tuple[Path, DataFile] | None:
    """Return the data file that the database was built from, and its name and digest then; `None` without a record.

    Raises `Precondition` when the record is damaged, or the file is not where it was.
    """
    record = outputs.json("prepare")
    if not record.exists():
        return None
    read = store.read_json(record, NAME_IT)
    if (origin := _origin(read, "data")) is None:
        raise Precondition(f"{record} does not say which data file it is about; {NAME_IT}")
    return found(outputs, origin, _text(read, "data_path")), origin


def chosen(outputs: Outputs, named: Path | None, say: Callable[[str], object]) -> Path:
    """Return the file named, else the one that the database was built from, else the project's own.

    `say` is told when its content is not what the database was built from.
    """
    try:
        built = built_from(outputs)
    except Precondition:
        if named is None:
            raise
        built = None  # whatever the record says, the file is named
    path = named or (built[0] if built else catalog.DATA)
    if built and catalog.origin(path) != built[1] and not catalog.is_hostile(catalog.load(path)):
        if path == built[0]:
            say(f"note: {path} has changed since {outputs.database} was built from it")
        else:
            say(f"note: {outputs.database} was built from {built[0]}, and its rows are what is read, not {path}")
    return path


def asked(outputs: Outputs) -> Path:
    """Return the data file of the run in `agent.json`, wherever this folder or the project has it.

    Where neither has it, the file that the database was built from: whoever reads the run says that it is another.
    """
    built = built_from(outputs)
    likely = built[0] if built else catalog.DATA
    run = outputs.json("agent")
    origin = _origin(store.read_json(run, runfile.remedy(outputs)), "provenance", "data") if run.exists() else None
    if origin is None or catalog.origin(likely) == origin:
        return likely
    with contextlib.suppress(Precondition):
        return found(outputs, origin, "")
    return likely


def _origin(value: JsonValue, *keys: str) -> DataFile | None:
    file, sha256 = _text(value, *keys, "file"), _text(value, *keys, "sha256")
    return {"file": file, "sha256": sha256} if file and sha256 else None


def _text(value: JsonValue, *keys: str) -> str:
    """The text under these keys, one inside the other; empty where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""
