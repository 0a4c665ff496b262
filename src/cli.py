"""The command line: `python -m src.cli COMMAND`; each command reads and writes files in `outputs/`.

The commands are registered in `src/commands/entries.py`; how a failure becomes a line on stderr and an exit status is
in `src/base/exits.py`. The list that the exercise edits is here.
"""

from collections.abc import Sequence
from typing import Any

from src.base import exits
from src.commands.entries import COMMANDS

# Calls that the gate must refuse. The exercise: in a copy of the project, put `modifier_stock` in place of
# `delete`, predict what `negatives` will say, and find the check in `toolcall()` that says it.
cases: list[Any] = [
    {"outil": "delete", "arguments": {"ref": "REF-000"}},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-12"}},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-000; DROP TABLE products"}},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-000", "stock": 5}},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-000"}, "admin": True},
]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = COMMANDS.parser()
    parser.set_defaults(cases=cases)
    return exits.run(parser, argv)


if __name__ == "__main__":
    exits.leave(main())
