"""One request and its answer over the pipes of a process, and the process's end; which process, `worker` knows."""

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from typing import IO, TypeAlias, cast

from src.run_sql.records import Answer

Process: TypeAlias = "subprocess.Popen[bytes]"

BLOCK = 65_536  # bytes read at once
MAX_ANSWER_BYTES = 4 * 2**20  # an answer of 100,000 characters, each of them escaped, has under 1 MiB


def pipe(stream: IO[bytes] | None) -> int:
    """Return the file descriptor of one of the process's pipes."""
    if stream is None:
        raise TypeError("the process was started without a pipe")
    return stream.fileno()


def receive(process: Process, line: bytes, deadline: float) -> tuple[str, Answer]:
    """Send a request and return the mark and the answer that come back.

    Raises EOFError when the process ends, TimeoutError at the deadline, ValueError when what comes is no answer.
    """
    requests, answers = pipe(process.stdin), pipe(process.stdout)
    poller = select.poll()
    poller.register(requests, select.POLLOUT)
    poller.register(answers, select.POLLIN)
    received = b""
    while not received.endswith(b"\n"):
        ready = poller.poll(max(0.0, deadline - time.monotonic()) * 1000)
        if not ready:
            raise TimeoutError
        for descriptor, _ in ready:
            if descriptor == answers:
                received += read(answers)
            else:
                line = line[write(requests, line) :]
                if not line:
                    poller.unregister(requests)
        if len(received) > MAX_ANSWER_BYTES:
            raise ValueError  # too long for an answer
    found = json.loads(received)
    if type(found) is not list or len(found) != 2 or type(found[1]) is not dict:
        raise ValueError  # no answer
    return str(found[0]), cast(Answer, found[1])


def read(descriptor: int) -> bytes:
    """Return what has come; EOFError at the end."""
    block = os.read(descriptor, BLOCK)
    if not block:
        raise EOFError
    return block


def write(descriptor: int, line: bytes) -> int:
    """Write what the pipe takes; EOFError when nobody reads it any more."""
    try:
        return os.write(descriptor, line)
    except BrokenPipeError:
        raise EOFError from None


def close_pipes(process: Process) -> None:
    """Close this end of both pipes."""
    for stream in (process.stdin, process.stdout):
        if stream:
            stream.close()


def end(process: Process) -> None:
    """Kill the process and the statement that it runs, wait for it, and close its pipes."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    close_pipes(process)
