"""The edge of a command: whatever ends it becomes an exit status and, unless it is done, one line on stderr.

Both command lines run through `run()`; docs/TROUBLESHOOTING.md lists the statuses. It knows nothing of the
commands, and lets through only exceptions that are bugs. Standard library only, so that `--help` and the commands that
need no model start at once.
"""

import argparse
import codecs
import contextlib
import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from src.base import shell
from src.base.errors import CommandError, Interrupted, Precondition, Terminated, interruption
from src.base.parser import Parser
from src.base.printable import in_ascii, visible

SEE = "see the path and its permissions"
AGAIN = " and run it again"
SPACE = f"free some space{AGAIN}"
ADVICE = {
    errno.ENOSPC: SPACE,
    errno.EDQUOT: SPACE,
    errno.EINVAL: "something else is in the place of a file; move it away",
    errno.EFBIG: "files may not be that large here: see ulimit -f and the file system",
    errno.EEXIST: "a file, or a link to nothing, is in the place of a folder; move it away",
    errno.EISDIR: "a folder is in place of a file; move it away",
    errno.ENOTDIR: "a file is in place of a folder; move it away",
    errno.EMFILE: "this program may open no more files: raise the limit (ulimit -n)",
    errno.EROFS: "the file system is read-only; use --outputs with another folder",
}

Handler = Callable[[argparse.Namespace], int | None]


def run(parser: Parser, argv: Sequence[str] | None = None) -> int:
    """Read the command line, give it to `args.run`, and return the status: what it returned, else 0.

    `SystemExit` is for `--help` (0) and wrong use (2).
    """
    _prepare_streams()
    name = parser.prog
    with _sigterm_as(terminate):
        try:
            args = parser.parse_args(argv)
            name = f"{parser.prog} {args.command}" if "command" in args else parser.prog
            status, line, details = _outcome(args)
        except KeyboardInterrupt as exc:  # before the command began, or behind its end
            status, line, details = Interrupted.status, interruption(exc), ()
        except OSError as exc:  # of the output of --help
            (status, line), details = _refused(exc), ()
        if line:
            with _undisturbed():
                _close_output()
                with contextlib.suppress(OSError):  # a full disk, or a reader that went away; the status still says so
                    for detail in details:
                        print(f"  {visible(detail)}", file=sys.stderr)
                    print(f"{name}: {visible(line)}", file=sys.stderr, flush=True)
    return status


def leave(status: int) -> NoReturn:
    """End the process; a second Ctrl-C while the interpreter closes changes neither line nor status."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if status == Interrupted.status:
        # A signal may have come while a library built an object: thrown away now, it complains of what it lacks.
        sys.unraisablehook = lambda _: None
    sys.exit(status)


def _prepare_streams() -> None:
    """Open the streams that the caller closed, lest a database get one of their numbers; let any text through."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 (open to the end)
    codecs.register_error(in_ascii.__name__, in_ascii)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that knows no accents or signs still gets the line. What comes in is decoded as arguments are:
            # a byte that is not text stays recognisable, and never becomes some other text.
            stream.reconfigure(errors="surrogateescape" if stream is sys.stdin else in_ascii.__name__)


def terminate(_number: int, _frame: FrameType | None) -> NoReturn:
    """Handle SIGTERM as Python handles Ctrl-C: results are kept, the embedded server stops."""
    raise Terminated


def _outcome(args: argparse.Namespace) -> tuple[int, str, Sequence[str]]:
    """Run the command; returns the exit status, the line that says what went wrong (or ""), and its details."""
    failure: BaseException
    details: Sequence[str] = ()
    try:
        status = args.run(args) or 0
        sys.stdout.flush()
        return status, "", details
    except CommandError as exc:
        status, line, details, failure = exc.status, str(exc), exc.details, exc
    except KeyboardInterrupt as exc:
        status, line, failure = Interrupted.status, interruption(exc), exc
    except ModuleNotFoundError as exc:
        status, failure = Precondition.status, exc
        line = f"the package {exc.name} is missing from this Python; {shell.package('app.lock')}"
    except MemoryError as exc:
        status, failure = Precondition.status, exc
        line = "out of memory; give this program more, or close others and run it again"
    except OSError as exc:
        (status, line), failure = _refused(exc), exc
    if line and getattr(args, "debug", False):
        import traceback

        traceback.print_exception(failure)
    return status, line, details


def _refused(exc: OSError) -> tuple[int, str]:
    """The status and line for an operation the system refused; no line when the reader, such as `head`, went away."""
    if isinstance(exc, BrokenPipeError):
        _close_output()
        return 0, ""
    # Subtle: what was opened by its number is named by the number, which tells nobody anything.
    # Of two names, as renaming has, the second is the one that a person knows: the first is a draft's.
    name = exc.filename2 or exc.filename
    where = os.fsdecode(name) if isinstance(name, str | bytes) else "a file being written"
    return Precondition.status, f"{exc.strerror or exc}: {where}; {advice(exc)}"


def advice(exc: OSError) -> str:
    """Say what helps where the system refused an operation."""
    if exc.errno == errno.ENOENT and not _here():
        return "the current folder was deleted: change into one that is there (cd), or give whole paths"
    return ADVICE.get(exc.errno or 0, SEE)


def _here() -> bool:
    """Whether there still is a current folder, to which short paths lead."""
    try:
        return bool(os.getcwd())  # noqa: PTH109 (the operating system is asked, whatever a library keeps)
    except OSError:
        return False


def _close_output() -> None:
    """Redirect a closed standard output to the null device, so that the interpreter's final flush stays silent."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Block the signals that would end the program while it writes its last line."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _sigterm_as(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Handle SIGTERM this way inside the block; a calling program gets its own handler back afterwards."""
    before = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
