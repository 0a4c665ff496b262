"""Questions in flight: one after the other (R3's way), or several at a time with `agent --jobs N`.

Each worker thread has its own read-only connection and, through `client.current()`, its own HTTP client; the checks
are those of `agent.run()` in every case. Results arrive as they are ready; the caller puts them in order.
"""

import queue
import sqlite3
import threading
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from typing import cast

from src import agent
from src.base.errors import CommandError, Precondition
from src.base.records import Question, Result
from src.runs import database
from src.runs.outputs import Outputs
from src.server.reply import TransportFailure

Answered = tuple[Result, bool]


def ask(db: sqlite3.Connection, question: Question) -> Answered:
    """Return the result of one question, and whether it failed in transport."""
    told: list[agent.Told] = []
    result = cast(Result, agent.run(db, question, told=told.append))  # guarded wording adds to it
    return result, any(isinstance(each, TransportFailure | OSError) for each in told)


def answered(outputs: Outputs, questions: Sequence[Question], jobs: int = 1) -> Generator[Answered, None, None]:
    """Ask the questions, `jobs` at a time, and yield what `ask` returns for each.

    Once the iterator is closed no further question is asked. Those in flight are not waited for, so that Ctrl-C does
    not take as long as a reply.
    """
    if jobs > 1:
        yield from _in_parallel(outputs, questions, min(jobs, len(questions)))
        return
    with closing(database.connect(outputs)) as db:
        for question in questions:
            yield ask(db, question)


def _in_parallel(outputs: Outputs, questions: Sequence[Question], jobs: int) -> Generator[Answered, None, None]:
    waiting: queue.SimpleQueue[Question] = queue.SimpleQueue()
    ready: queue.SimpleQueue[Answered | CommandError | None] = queue.SimpleQueue()  # None: a worker has ended
    stopped = threading.Event()
    for question in questions:
        waiting.put(question)

    def work() -> None:
        try:
            with closing(database.connect(outputs)) as db, suppress(queue.Empty):
                while not stopped.is_set():
                    ready.put(ask(db, waiting.get_nowait()))
        except CommandError as exc:
            ready.put(exc)
        finally:
            ready.put(None)

    try:
        # Daemon threads: those of an executor are joined at exit, for up to a whole timeout.
        for number in range(jobs):
            _start(threading.Thread(target=work, name=f"question-{number}", daemon=True), jobs)
        running, left = jobs, len(questions)
        while running:
            item = ready.get()
            if item is None:
                running -= 1
            elif isinstance(item, CommandError):
                raise item
            else:
                left -= 1
                yield item
        if left:
            raise RuntimeError(f"{left} questions were not asked: a worker thread failed, see its traceback above")
    finally:
        stopped.set()


def _start(thread: threading.Thread, jobs: int) -> None:
    try:
        thread.start()
    except RuntimeError as exc:  # the limit of a container or a user is reached; each job takes a thread
        raise Precondition(f"--jobs {jobs}: {exc}; use a smaller number") from None
