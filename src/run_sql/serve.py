"""The process beside the caller's, `python -m src.run_sql.serve`: it runs statements in a child, under limits.

It never runs a statement itself. Its child reads requests from standard input, runs them (`engine`), writes the
answers to standard output, and is replaced after any statement that was not simple. Whatever kills it, a fault of
SQLite or a limit of the system, is then reported here, and the next child knows nothing of it.
Both end when standard input closes, which it does when the caller ends in any way.
"""

import gc
import json
import os
import resource
import signal
import sqlite3
from pathlib import Path
from typing import Any, NoReturn

from src.run_sql import engine
from src.run_sql.records import Answer

CALL_SECONDS = 0.4  # of processor time for one call: a query of the lesson needs 1 ms, the promise is 1 s in all
WALL_SECONDS = 0.8  # of the clock on the wall, for what waits and does not work, or hardly, on a busy machine
NO_MORE = 3  # the exit status of a child that found standard input closed
REQUESTS, ANSWERS = 0, 1  # file descriptors
BLOCK = 65_536  # bytes read at once; a request has up to 120,000


def limit_process() -> None:
    """Take from this process and its children what no statement needs: memory, files to write, core dumps."""
    for kind, most in (
        (resource.RLIMIT_DATA, engine.MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def forget_inherited_signals() -> None:
    """Let the clocks kill and children be waited for, whatever the caller ignores or blocks."""
    for number in (signal.SIGPROF, signal.SIGALRM, signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def set_clocks(cpu: float, wall: float) -> None:
    """Have the system kill this process after so many seconds, whatever it is doing; 0 stops the clocks."""
    signal.setitimer(signal.ITIMER_PROF, cpu)
    signal.setitimer(signal.ITIMER_REAL, wall)


def next_request() -> dict[str, Any] | None:
    """Wait for one line of standard input, which the caller sends only when it has the answer to the one before."""
    line = b""
    while not line.endswith(b"\n"):
        block = os.read(REQUESTS, BLOCK)
        if not block:
            return None
        line += block
    request: dict[str, Any] = json.loads(line)
    return request


def send(mark: str, answer: Answer) -> None:
    """Write one answer; `mark` says whose it is: `answered` the child's, `late` or `crashed` when it was killed."""
    line = json.dumps([mark, answer], allow_nan=False).encode() + b"\n"
    while line:
        line = line[os.write(ANSWERS, line) :]


def serve_requests() -> int:
    """In the child: answer requests, and return the exit status."""
    engine.warm_up()  # touches its copy of the memory before the caller waits for it
    while (request := next_request()) is not None:
        set_clocks(CALL_SECONDS, WALL_SECONDS)
        outcome = engine.outcome(Path(os.fsdecode(request["file"])), request["statement"], request["max_rows"])
        set_clocks(0, 0)
        send("answered", outcome.answer)
        if not outcome.simple:
            return 0
    return NO_MORE


def child() -> NoReturn:
    """Serve, and end the process whatever happens: all that it has is a copy of its parent's."""
    status = 1
    try:
        status = serve_requests()
    finally:
        os._exit(status)


def obituary(wait_status: int) -> tuple[str, str]:
    """Return what ended a child, `late` or `crashed`, and the same in the lesson's Spanish."""
    if os.WIFSIGNALED(wait_status):
        number = os.WTERMSIG(wait_status)
        if number in (signal.SIGPROF, signal.SIGALRM):
            return "late", f"tiempo agotado: más de {CALL_SECONDS} s"
        cause = signal.Signals(number).name
    else:
        cause = f"estado {os.waitstatus_to_exitcode(wait_status)}"
    engine_name = f"el motor SQLite {sqlite3.sqlite_version}"
    return "crashed", f"{engine_name} cayó con esta consulta ({cause}); escríbela de otra forma"


def main() -> None:
    """Keep a child serving until standard input closes."""
    forget_inherited_signals()
    limit_process()
    engine.warm_up()
    os.chdir("/")  # a relative name in a statement means nothing
    gc.freeze()
    gc.disable()
    while True:
        process = os.fork()
        if not process:
            child()
        _, wait_status = os.waitpid(process, 0)
        if os.WIFEXITED(wait_status) and os.WEXITSTATUS(wait_status) == NO_MORE:
            return
        if wait_status != 0:
            mark, words = obituary(wait_status)
            send(mark, {"ok": False, "error": words})


if __name__ == "__main__":
    main()
