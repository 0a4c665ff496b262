"""The failures that a command ends with, and the exit status that each one means (docs/TROUBLESHOOTING.md).

Library code raises these; only the edge (`src.base.exits`) turns them into one line on stderr and a status.
A message names the thing, what was found, and the next step.
"""

from collections.abc import Sequence


class CommandError(Exception):
    """Ends a command with `status` and one line on stderr, below a line for each of `details` where it has some."""

    status = 1

    def __init__(self, message: str, details: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.details = details


class CheckFailed(CommandError):
    """A check of the experiment failed: a forbidden call got through, the digests differ."""

    status = 1


class Precondition(CommandError):
    """Something needed is missing, damaged or already there, or the arguments are wrong."""

    status = 2


class ServerUnavailable(CommandError):
    """The model server cannot be reached, or gave up in the middle of a run."""

    status = 3


class SourceUnavailable(CommandError):
    """The place a model is downloaded from cannot be reached, refuses, or gave up; no wrong file was kept."""

    status = 3


class Interrupted(CommandError):
    """Ctrl-C or SIGTERM ended a command: status 1, since the work is not done.

    Raised in place of `KeyboardInterrupt` by code that can say more, e.g. how many results are kept.
    """

    status = 1


class Terminated(KeyboardInterrupt):
    """SIGTERM: treated like Ctrl-C, except for the wording of its line.

    Subtle: not an `Exception`, so that no library's `except Exception` catches it as one of its own failures.
    """


def interruption(exc: KeyboardInterrupt) -> str:
    """Return the words that the line about an interruption starts with."""
    return "interrupted by SIGTERM" if isinstance(exc, Terminated) else "interrupted"
