"""How many threads llama.cpp computes with, and how long a waiting one spins.

Two numbers: reading a prompt is long work between two waits, so every core is used; writing a sentence is hundreds of
waits for each token, where one thread that has lost its core to another program holds up all the others. Measured on
two cores (docs/SCALING.md). Neither number changes the text, so neither is among the conditions of a run.
"""

import math
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

CGROUP = Path("/sys/fs/cgroup")  # where a container sees its own group
CFS_FILES = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
STAT = Path("/proc/stat")  # Linux: the time each processor spent idle, in ticks of 10 ms
LOOK_S = 0.25  # how long to watch the processors: 25 ticks each
BUSY = 0.5  # processors' time that other programs may take while the machine still counts as idle
# Rounds a waiting thread spins before it sleeps. With GNU OpenMP's own 300,000 it keeps the core from the very thread
# it waits for: beside two busy loops two threads then write a few tokens a second.
SPIN_NAME, SPIN_ROUNDS = "GOMP_SPINCOUNT", "3000"


class Threads(NamedTuple):
    """Threads for writing (`n_threads` of llama.cpp) and for reading prompts (`n_threads_batch`)."""

    writing: int
    reading: int


def cpu_quota(cgroup: Path = CGROUP) -> float:
    """Return how many processors' time the container may use, infinity where no limit is set.

    From the kernel's files for the bandwidth of a group: `cpu.max` of version 2, `cpu.cfs_quota_us` of version 1.
    """
    try:
        if (cgroup / "cpu.max").exists():
            quota, period = (cgroup / "cpu.max").read_text(encoding="ascii").split()
        else:
            quota, period = ((cgroup / "cpu" / name).read_text(encoding="ascii") for name in CFS_FILES)
        return int(quota) / int(period) if int(quota) > 0 else math.inf  # version 1 says -1 for no bound
    except (OSError, ValueError, ZeroDivisionError):  # no such file; version 2 says "max" for no bound
        return math.inf


def threads_for(cgroup: Path = CGROUP, stat: Path = STAT) -> Threads:
    """Return the threads to compute with: every core, but one fewer for writing beside other programs.

    A container's share of the processors is never exceeded, since threads beyond it spin the share away. Elsewhere
    than on Linux the wheel uses another OpenMP, whose waiting was not measured, and one core stays free.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    share = max(1, int(min(usable, cpu_quota(cgroup))))
    spared = max(1, min(share, usable - 1))
    if sys.platform != "linux":
        return Threads(spared, spared)
    return Threads(share if spared < share and idle(stat) else spared, share)


def idle(stat: Path = STAT, seconds: float = LOOK_S) -> bool:
    """Whether other programs left the processors alone while we looked; false where that is unknown, as on macOS."""
    before = _ticks(stat)
    time.sleep(seconds)
    spent = [now - then for now, then in zip(_ticks(stat), before, strict=False)]
    return sum(spent) > 0 and sum(spent[:3]) / sum(spent) * (os.cpu_count() or 1) <= BUSY


def _ticks(stat: Path) -> list[int]:
    """The ticks of all processors together: for programs, for low-priority ones, for the kernel, idle, for a disk."""
    try:
        with stat.open(encoding="ascii") as file:
            return [int(number) for number in file.readline().split()[1:6]]
    except (OSError, ValueError):
        return []


def spin_briefly() -> None:
    """Make this process's waiting OpenMP threads sleep soon; call it before llama.cpp is imported.

    A value already in the caller's environment is kept.
    """
    os.environ.setdefault(SPIN_NAME, SPIN_ROUNDS)
