"""`--resume`: what was interrupted knows its own conditions, and an option that differs from them is refused."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from src.base.errors import Precondition
from src.runs import catalog, differences
from src.runs.outputs import Outputs
from src.runs.records import DataFile

# The option that decides about each condition.
OPTIONS = {
    "language": "--lang",
    "guard_answers": "--guard-answers",
    "jobs": "--jobs",
    "data": "--data",
    "runs": "--runs",
}


def check(
    where: Path, there: Mapping[str, object], typed: Mapping[str, object], outputs: Outputs, words: Sequence[str]
) -> None:
    """Refuse options other than those of what is resumed; `typed` holds them by condition, `None` where left out.

    `where` keeps the conditions `there`; `words` are the command that needs no options. Raises `Precondition`.
    """
    here = {name: value for name, value in typed.items() if value is not None}
    if different := differences.differing(there, here, list(here)):
        named = sorted({OPTIONS[name.partition(".")[0]] for name, _, _ in different})
        raise Precondition(
            f"what was interrupted in {where} was made under different conditions: "
            f"{differences.listed(different)}; it knows its own, so leave "
            f"{' and '.join(named)} out: {outputs.command(*words)}"
        )


def origin(data: Path | None) -> DataFile | None:
    """Name a data file that was typed, as the records do."""
    return catalog.origin(data) if data is not None else None
