"""The deadline on an exchange: it cuts what lasts too long, once, and nothing else.

Run alone: python -m pytest tests/measures/test_deadline.py
"""

import contextlib
import threading
import time

from src.server.deadline import _WATCH, Deadline

PATIENCE_S = 30.0  # far above what any machine needs; only a failing test waits so long
SOON_S, LATE_S = 0.05, 1000.0


class Cuts:
    """Counts the cuts, and lets a test wait for the next one."""

    def __init__(self) -> None:
        self.count = 0
        self._made = threading.Semaphore(0)

    def __call__(self) -> None:
        self.count += 1
        self._made.release()

    def awaited(self) -> bool:
        return self._made.acquire(timeout=PATIENCE_S)


def asleep() -> None:
    """Return when the watching thread sleeps until the deadline that runs."""
    for _ in range(int(PATIENCE_S / SOON_S)):
        with _WATCH.changed:
            if _WATCH.changed._waiters:  # type: ignore[attr-defined]
                return
        time.sleep(SOON_S)
    raise AssertionError("nobody watches the deadline")


def test_a_block_that_lasts_too_long_is_cut_once() -> None:
    cuts = Cuts()
    with Deadline(cuts).within(SOON_S):
        assert cuts.awaited()
    assert cuts.count == 1


def test_a_short_deadline_after_a_long_one_is_kept() -> None:
    cuts = Cuts()
    deadline = Deadline(cuts)
    with deadline.within(LATE_S):
        asleep()
    with deadline.within(SOON_S):
        assert cuts.awaited()
    assert cuts.count == 1


def test_each_of_several_blocks_has_its_own_deadline() -> None:
    cuts = Cuts()
    deadline = Deadline(cuts)
    for number in range(1, 4):
        with deadline.within(SOON_S):
            assert cuts.awaited()
        assert cuts.count == number


def test_a_block_that_ended_in_time_is_not_cut_later() -> None:
    cuts, others = Cuts(), Cuts()
    deadline = Deadline(cuts)
    with deadline.within(SOON_S):
        pass
    with Deadline(others).within(4 * SOON_S):
        assert others.awaited()  # by then the first deadline has passed
    assert cuts.count == 0


def test_each_of_many_clients_is_cut_by_the_one_thread_and_an_idle_program_keeps_none() -> None:
    def watching() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "deadline"]

    slow, late = [Cuts() for _ in range(20)], Cuts()
    with contextlib.ExitStack() as blocks:
        blocks.enter_context(Deadline(late).within(LATE_S))
        for cuts in slow:
            blocks.enter_context(Deadline(cuts).within(SOON_S))
        assert len(watching()) == 1
        assert all(cuts.awaited() for cuts in slow)
    assert [cuts.count for cuts in slow] == [1] * 20 and late.count == 0
    with Deadline(late).within(SOON_S):  # wakes the thread, which then finds nothing to watch
        pass
    for thread in watching():
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
