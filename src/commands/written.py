"""What a command prints last: the path of the file that it wrote, or, with `--json`, what is in the file."""

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from src.base.printable import dumps, note, say

Written = Callable[[Path, object], None]


def path_only(path: Path, _record: object) -> None:
    """Print the path."""
    say(str(path))


@contextlib.contextmanager
def told(as_json: bool) -> Iterator[Written]:
    """Give a block the way to tell what it wrote.

    With `as_json` standard output gets the record alone, one JSON document in UTF-8, and all that is said to a person
    goes to stderr.
    """
    if not as_json:
        yield path_only
        return
    out = sys.stdout

    def record(path: Path, made: object) -> None:
        note(str(path))
        if isinstance(out, io.TextIOWrapper):
            out.reconfigure(encoding="utf-8")  # JSON is UTF-8 whatever the terminal claims
        print(dumps(made, indent=2), file=out, flush=True)

    with contextlib.redirect_stdout(sys.stderr):
        yield record
