"""Calls a command line as a process would, without starting one: the same `main(argv)`, its own streams and variables.

A process costs half a second, mostly of imports. What needs a process is tested in one: signals, closed
streams, what is imported when, full disks, descriptors.
"""

import io
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

Main = Callable[[Sequence[str]], int]


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """What is on stderr without what the program said of its progress: its one line, where it failed."""
        parts = re.split(r"^(?=python -m src\.|fetch_model: )", self.err, maxsplit=1, flags=re.MULTILINE)
        return parts[-1] if len(parts) > 1 else ""


@contextmanager
def _folder_and_variables(cwd: Path, env: Mapping[str, str]) -> Iterator[None]:
    """Change into the folder, with these variables and no others."""
    folder, variables = Path.cwd(), dict(os.environ)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    try:
        yield
    finally:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)


@contextmanager
def _streams(stdin: str) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Replace the three streams by buffers in UTF-8, as Python opens them when they are not a terminal."""
    before = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8", "surrogateescape")), "utf-8")
    sys.stdout = io.TextIOWrapper(out, "utf-8")
    sys.stderr = io.TextIOWrapper(err, "utf-8", errors="backslashreplace", line_buffering=True)
    try:
        yield out, err
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


@contextmanager
def _ctrl_c_ends_the_tests_too() -> Iterator[None]:
    """The command takes Ctrl-C as its own and ends in one line; whoever typed it meant the whole test run."""
    pressed = False

    def note(_number: int, _frame: FrameType | None) -> NoReturn:
        nonlocal pressed
        pressed = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def call(main: Main, argv: Sequence[str], cwd: Path, env: Mapping[str, str], stdin: str = "") -> Ended:
    """Call `main` with these words, as `python -m` would; returns the status and what went to both streams.

    An exception that `main` lets through is the test's failure, with its traceback.
    """
    with _ctrl_c_ends_the_tests_too(), _folder_and_variables(cwd, env), _streams(stdin) as (out, err):
        try:
            status: object = main(argv)
        except SystemExit as exc:
            status = exc.code
        sys.stdout.flush()
        sys.stderr.flush()
        shown, said = out.getvalue().decode(), err.getvalue().decode()
    assert status is None or isinstance(status, int), status
    return Ended(status or 0, shown, said)
