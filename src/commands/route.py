"""The mark of a route that is not finished, `route.json` in the folder of its last run.

From it `reproduce --resume` knows what was asked and which runs there are already.

The mark moves to each next run and goes when the route has ended. It says nothing about how far a run has come.
"""

from pathlib import Path
from typing import NamedTuple, TypedDict, cast

from src.base.errors import Precondition
from src.base.messages import LANGUAGES
from src.base.records import Language
from src.runs import catalog, datafile, store
from src.runs.outputs import Outputs
from src.runs.records import DataFile

MARK = "route"


class Mark(TypedDict):
    """route.json."""

    language: Language
    runs: int
    data: DataFile
    data_path: str  # relative to the folder of the run
    earlier: list[str]  # names of the folders of the runs that are finished


class Route(NamedTuple):
    """What `reproduce` was asked, and the folders of the runs that there are already."""

    data: Path
    language: Language
    runs: int
    folders: tuple[Path, ...] = ()


def mark(outputs: Outputs, route: Route, earlier: list[Path]) -> None:
    """Mark a run as the route's last, and the one before no longer."""
    made: Mark = {
        "language": route.language,
        "runs": route.runs,
        "data": catalog.origin(route.data),
        "data_path": datafile.beside(outputs, route.data),
        "earlier": [folder.name for folder in earlier],
    }
    store.write_json(outputs.json(MARK), made)
    if earlier:
        clear(earlier[-1])


def clear(folder: Path) -> None:
    """Take the mark away."""
    Outputs(folder).json(MARK).unlink(missing_ok=True)


def unfinished(parent: Outputs) -> tuple[Path, Mark]:
    """Return the folder of the last run that is marked, and its mark; `Precondition` when there is none."""
    anew = f"start anew with: {parent.command('reproduce')}"
    marks = sorted(parent.folder.glob(f"run-*/{MARK}.json"), key=lambda path: (len(path.parent.name), path))
    if not marks:
        raise Precondition(f"{parent.folder} holds no interrupted route; {anew}")
    found = store.read_json(marks[-1], anew)
    if not (
        isinstance(found, dict)
        and found.keys() == Mark.__annotations__.keys()
        and found["language"] in LANGUAGES
        and type(found["runs"]) is int
        and isinstance(found["data"], dict)
        and isinstance(found["data"].get("file"), str)
        and isinstance(found["data_path"], str)
        and isinstance(found["earlier"], list)
        and all(isinstance(name, str) and name == Path(name).name for name in found["earlier"])
    ):
        raise Precondition(f"{marks[-1]} is not what reproduce writes there; {anew}")
    return marks[-1].parent, cast(Mark, found)


def left(parent: Outputs) -> tuple[Mark, Route]:
    """Return the mark of the interrupted route below `parent`, and the route that it stands for."""
    folder, found = unfinished(parent)
    data = datafile.found(Outputs(folder), found["data"], found["data_path"])
    folders = tuple(parent.folder / name for name in found["earlier"])
    return found, Route(data, found["language"], found["runs"], (*folders, folder))
