"""The caller's end of the process that runs statements (`serve`): started at the first call, replaced when it ends.

Nothing here touches SQLite. A Worker serves one call at a time and belongs to the process that made it; the child of a
fork finds it without a process and starts its own.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from typing import Any

from src.base.paths import ROOT
from src.run_sql.exchange import Process, close_pipes, end, pipe, receive
from src.run_sql.records import Answer

COMMAND = ("-E", "-s", "-S", "-m", "src.run_sql.serve")  # the standard library and this package, nothing of a user's
PATIENCE_SECONDS = 10.0  # for start and answer together; the process has clocks of its own, this is for a stuck machine
STARTS = 2  # for one call: the process runs no SQL itself, so its end is not the statement's fault

INTERRUPTED = "OperationalError: interrupted"  # SQLite's own words


class Lost(Exception):
    """The process could not be started, ended or answered nonsense; the text says which, in Spanish."""


class Worker:
    """A process that runs statements; it ends with `stop`, with this object and with the program."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._without_process()
        LIVING.add(self)

    def _without_process(self) -> None:
        """Set everything to how it is before the first call."""
        self._lock = threading.Lock()
        self._process: Process | None = None
        self._ending: weakref.finalize[..., Any] | None = None
        self._fresh = True  # whether the process has run no statement yet
        self._busy = self._interrupted = False

    def ask(self, file: bytes, statement: str, max_rows: int | None) -> Answer:
        """Return the answer to a statement run on a file, or only compiled where `max_rows` is None.

        Raises nothing but KeyboardInterrupt and its like, which stop the statement.
        """
        request = {"file": os.fsdecode(file), "statement": statement, "max_rows": max_rows}
        line = json.dumps(request).encode() + b"\n"
        cause = ""
        with self._lock:
            self._busy, self._interrupted = True, False
            deadline = time.monotonic() + PATIENCE_SECONDS
            try:
                for _ in range(STARTS):
                    try:
                        return self._answer(line, deadline)
                    except Lost as lost:
                        cause = str(lost)
                    if self._interrupted:
                        return {"ok": False, "error": INTERRUPTED}
            finally:
                self._busy = False
        return {"ok": False, "error": f"el proceso que ejecuta las consultas {cause}"}

    def _answer(self, line: bytes, deadline: float) -> Answer:
        """Return the answer of this process; a crash is believed only of a statement that was its first.

        What a statement before has broken shows in one that is not to blame.
        """
        fresh = self._fresh
        mark, answer = self._exchange(line, deadline)
        if mark == "crashed" and not fresh:
            self.stop()
            mark, answer = self._exchange(line, deadline)
        self._fresh = mark != "answered"
        return answer

    def interrupt(self) -> None:
        """End the call under way, from another thread; it answers that it was interrupted."""
        process = self._process
        if self._busy and process:
            self._interrupted = True
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def stop(self) -> None:
        """End the process, if there is one; the next call starts another."""
        if self._ending:
            self._ending()
        self._process = self._ending = None

    def after_fork(self) -> None:
        """In the child of a fork: let go of what the parent's process is reached by."""
        if self._process and self._ending:
            self._ending.detach()
            self._process.returncode = 0  # not a child of this process, so there is nothing to wait for
            close_pipes(self._process)
        self._without_process()

    def _exchange(self, line: bytes, deadline: float) -> tuple[str, Answer]:
        """Send a request and return its mark and answer; raises Lost, and ends the process, when there is none."""
        answered = False
        try:
            process = self._process if self._process and self._process.poll() is None else self._start()
            found = receive(process, line, deadline)
            answered = True
        except TimeoutError:
            raise Lost(f"no responde en {PATIENCE_SECONDS:g} s") from None
        except EOFError:
            raise Lost("terminó antes de responder") from None
        except ValueError:
            raise Lost("respondió algo ilegible") from None
        except OSError as fault:
            raise Lost(f"no se pudo iniciar: {fault.strerror or fault}") from None
        finally:
            if not answered:
                self.stop()
        return found

    def _start(self) -> Process:
        """Start a process; OSError when the system grants none."""
        self.stop()
        # A group of its own: a terminal's Ctrl-C is for the caller, and `end` reaches the statement's process too.
        process = subprocess.Popen(
            [sys.executable, *COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=ROOT,
            process_group=0,
        )
        self._process, self._ending = process, weakref.finalize(self, end, process)
        self._fresh = True
        os.set_blocking(pipe(process.stdin), False)
        return process


LIVING: "weakref.WeakSet[Worker]" = weakref.WeakSet()


def _after_fork() -> None:
    for worker in list(LIVING):
        worker.after_fork()


os.register_at_fork(after_in_child=_after_fork)
