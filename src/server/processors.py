"""How many threads llama.cpp computes with, and how long a waiting one spins.

Two numbers: reading a prompt is long work between two waits, so every core is used; writing a sentence is hundreds of
waits for each token, where one thread that has lost its core to another program holds up all the others. Measured on
two cores (docs/SCALING.md): a second thread brings reading 1.8 times the speed and writing nothing, and beside other
programs it slows writing to a ninth. Neither number changes the text, so neither is among the conditions of a run.
"""

import math
import os
import sys
from pathlib import Path
from typing import NamedTuple

CGROUP = Path("/sys/fs/cgroup")  # where a container sees its own group
CFS_FILES = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
# Rounds a waiting thread spins before it sleeps. With GNU OpenMP's own 300,000 it keeps the core from the very thread
# it waits for: beside two busy loops two threads then write a few tokens a second.
SPIN_NAME, SPIN_ROUNDS = "GOMP_SPINCOUNT", "1000"


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


def threads_for(cgroup: Path = CGROUP) -> Threads:
    """Return the threads to compute with: every core for reading, one fewer for writing.

    A container's share of the processors is used whole and never exceeded, since threads beyond it spin the share away.
    Elsewhere than on Linux the wheel uses another OpenMP, whose waiting was not measured, and one core stays free.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    share = max(1, int(min(usable, cpu_quota(cgroup))))
    spared = max(1, min(share, usable - 1))
    return Threads(spared, share if sys.platform == "linux" else spared)


def spin_briefly() -> None:
    """Make this process's waiting OpenMP threads sleep soon; call it before llama.cpp is imported.

    A value already in the caller's environment is kept.
    """
    os.environ.setdefault(SPIN_NAME, SPIN_ROUNDS)
