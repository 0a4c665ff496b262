"""The program in a process of its own that needs no new interpreter: forked by `template`, which made the imports.

For what has to be seen from outside: signals, kills, a reader that goes away. A new interpreter is for tests of
imports, terminals and closed streams, and of variables that the interpreter itself reads.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import IO

from tests.support.inprocess import Ended

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 120  # for one command: reached only when it hangs


def _state(process: int) -> list[str]:
    """The fields of a process in /proc from the third on: its state, its parent."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def parent(process: int) -> int:
    """The number of its parent."""
    return int(_state(process)[1])


def alive(process: int) -> bool:
    """Whether it runs; one that ended and was not waited for does not."""
    try:
        return _state(process)[0] != "Z"
    except FileNotFoundError:
        return False


class Program:
    """A command that runs, with what the tests use of `subprocess.Popen[str]`."""

    def __init__(self, requests: socket.socket, program: str, argv: Sequence[str], cwd: Path, env: Mapping[str, str]):
        out, err, self._status = os.pipe(), os.pipe(), os.pipe()
        job = {"program": program, "argv": [*argv], "cwd": str(cwd), "env": {**env}}
        with Path(os.devnull).open("rb") as nothing:
            theirs = [nothing.fileno(), out[1], err[1], self._status[1]]
            socket.send_fds(requests, [json.dumps(job).encode()], theirs)
        for descriptor in theirs[1:]:
            os.close(descriptor)
        self.stdout: IO[str] = os.fdopen(out[0], encoding="utf-8")
        self.stderr: IO[str] = os.fdopen(err[0], encoding="utf-8")
        self._said: IO[str] = os.fdopen(self._status[0], encoding="ascii")
        self.pid = int(self._said.readline())
        self.returncode: int | None = None

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        for stream in (self.stdout, self.stderr, self._said):
            stream.close()

    def poll(self) -> int | None:
        """The status if the command ended, negative for the signal that ended it."""
        if self.returncode is None and select.select([self._said], [], [], 0)[0]:
            self.returncode = int(self._said.readline())
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Wait for the end and return the status; raises `subprocess.TimeoutExpired`."""
        if self.returncode is None and not select.select([self._said], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired([], timeout)
        status = self.poll()
        assert status is not None
        return status

    def ended(self, timeout: float = LIMIT_S) -> Ended:
        """Read both streams to their ends and wait; kills a command that takes longer, and raises as `wait` does."""
        late = threading.Timer(timeout, self.kill)
        late.start()
        with ThreadPoolExecutor() as readers:
            out, err = readers.map(lambda stream: stream.read(), (self.stdout, self.stderr))
        if not late.is_alive():
            self.wait(LIMIT_S)  # its streams are closed a little before it has ended
            raise subprocess.TimeoutExpired([], timeout, out, err)
        late.cancel()
        return Ended(self.wait(timeout), out, err)

    def send_signal(self, number: int) -> None:
        """Send a signal to a command that has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it unless it has ended."""
        self.send_signal(signal.SIGKILL)


@cache
def _requests() -> socket.socket:
    """Our end of the connection to this process's template, which ends when we do."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command, pipe = [sys.executable, "-m", "tests.support.template", str(theirs.fileno())], subprocess.PIPE
        subprocess.Popen(  # its streams become the commands', and are of the same kind
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, pass_fds=[theirs.fileno()]
        )
    return ours


def start(program: str, *words: str | Path, cwd: Path = ROOT, env: Mapping[str, str]) -> Program:
    """Start `python -m program` with these words."""
    return Program(_requests(), program, [*map(str, words)], cwd, env)


def run(program: str, *words: str | Path, cwd: Path = ROOT, env: Mapping[str, str]) -> Ended:
    """Run `python -m program` with these words to its end."""
    with start(program, *words, cwd=cwd, env=env) as process:
        return process.ended()
