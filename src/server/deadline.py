"""A deadline on work that cannot be told to stop: when time is up, something it depends on is cut.

One thread watches every running block of the process: one for each of many clients would double their threads, and a
new one for each exchange costs a millisecond on two slow cores. It ends when it finds nothing to watch, so an idle
program keeps no thread.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class _Watch:
    """The running blocks with the time each must have ended by, and the thread that looks after them."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._running: dict[Deadline, float] = {}
        self._wakes = -math.inf  # when the thread looks next; -inf when there is none
        self._thread: threading.Thread | None = None

    def begin(self, block: "Deadline", due: float) -> None:
        with self.changed:
            if self._wakes == -math.inf or not (self._thread and self._thread.is_alive()):  # a fork leaves it behind
                self._thread = threading.Thread(target=self._watch, name="deadline", daemon=True)
                self._thread.start()  # it waits for the lock
                self._wakes = due
            self._running[block] = due  # after the start, which may fail
            if due < self._wakes:
                self._wakes = due
                self.changed.notify()

    def end(self, block: "Deadline") -> None:
        with self.changed:
            self._running.pop(block, None)

    def _watch(self) -> None:
        """Cut what is overdue, then sleep until the next deadline; one that has ended by then is not missed."""
        with self.changed:
            while self._running:
                now = time.monotonic()
                for block in [block for block, due in self._running.items() if due <= now]:
                    del self._running[block]
                    block.cut()  # under the lock: the block cannot end, and its next one not begin, in between
                self._wakes = min(self._running.values(), default=now)
                if self._running:
                    self.changed.wait(self._wakes - now)
            self._wakes = -math.inf


_WATCH = _Watch()


class Deadline:
    """Calls `cut` once when the block inside `within()` has not ended in time; one block at a time."""

    def __init__(self, cut: Callable[[], object]) -> None:
        self.cut = cut

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Run the block under a deadline of `seconds` from now."""
        _WATCH.begin(self, time.monotonic() + seconds)
        try:
            yield
        finally:
            _WATCH.end(self)
