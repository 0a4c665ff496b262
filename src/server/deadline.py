"""A deadline on work that cannot be told to stop: when time is up, something it depends on is cut.

One thread watches one client's exchanges, one at a time; a new thread for each exchange would cost a millisecond on
two slow cores. It ends when it finds nothing to watch, so an idle client has no thread.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Deadline:
    """Calls `cut` once when the block inside `within()` has not ended in time."""

    def __init__(self, cut: Callable[[], object]) -> None:
        self._cut = cut
        self._changed = threading.Condition()
        self._due = math.inf  # when the running block must have ended; inf when none is running
        self._wakes = -math.inf  # when the watching thread next looks; -inf when there is no such thread

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Run the block under a deadline of `seconds` from now."""
        with self._changed:
            self._due = time.monotonic() + seconds
            if self._wakes == -math.inf:
                threading.Thread(target=self._watch, name="deadline", daemon=True).start()  # it waits for the lock
                self._wakes = self._due
            elif self._due < self._wakes:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._due = math.inf

    def _watch(self) -> None:
        """Sleep until the deadline; if a later one has replaced it, sleep again."""
        with self._changed:
            while self._due < math.inf:
                left = self._due - time.monotonic()
                if left <= 0:
                    self._due = math.inf
                    self._cut()  # under the lock, so that the block cannot end, nor the next one begin, in between
                    break
                self._wakes = self._due
                self._changed.wait(left)
            self._wakes = -math.inf
