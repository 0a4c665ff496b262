"""The failures that a command ends with, and the exit status that each one means (README.md).

Library code raises these; only `src.cli` turns them into one line on stderr and a status.
A message names the thing, what was found, and the next step.
"""


class CommandError(Exception):
    """Ends a command with `status` and one line on stderr."""

    status = 1


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
    """The place a model is downloaded from cannot be reached, refuses, or gave up; nothing wrong was kept."""

    status = 3


class Interrupted(CommandError):
    """Ctrl-C or SIGTERM ended a command; SPEC section 4 has no status of its own for that: the work is not done."""

    status = 1
