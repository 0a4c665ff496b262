"""How many threads the embedded server computes with: never more than a container's share of the processors.

The kernel's files are the test's own; no server is started. Run alone: python -m pytest tests/embedded/test_threads.py
"""

import math
import os
from pathlib import Path

import pytest

from src.server.embedded_server import cpu_quota, threads_for

CORES = 16


@pytest.fixture(autouse=True)
def sixteen_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(CORES)), raising=False)


def version_2(folder: Path, text: str) -> Path:
    (folder / "cpu.max").write_text(text)
    return folder


def version_1(folder: Path, quota: str, period: str = "100000\n") -> Path:
    (folder / "cpu").mkdir()
    (folder / "cpu" / "cpu.cfs_quota_us").write_text(quota)
    (folder / "cpu" / "cpu.cfs_period_us").write_text(period)
    return folder


SHARES = [("400000 100000\n", 4), ("100000 100000\n", 1), ("50000 100000\n", 1), ("390000 100000\n", 3)]


@pytest.mark.parametrize(("text", "threads"), SHARES)
@pytest.mark.parametrize("slots", [1, 4])
def test_a_share_of_the_processors_is_used_whole_and_not_exceeded(
    tmp_path: Path, text: str, threads: int, slots: int
) -> None:
    (tmp_path / "2").mkdir()
    (tmp_path / "1").mkdir()
    quota, period = text.split()
    assert threads_for(slots, version_2(tmp_path / "2", text)) == threads
    assert threads_for(slots, version_1(tmp_path / "1", quota, period)) == threads


def test_a_share_that_is_no_bound_leaves_one_core_free_as_without_it(tmp_path: Path) -> None:
    assert threads_for(1, version_2(tmp_path, "1600000 100000\n")) == CORES - 1


def test_without_a_bound_one_core_stays_free_unless_several_slots_ask(tmp_path: Path) -> None:
    assert (threads_for(1, tmp_path), threads_for(4, tmp_path)) == (CORES - 1, CORES)
    assert threads_for(1, version_2(tmp_path, "max 100000\n")) == CORES - 1


def test_version_1_says_minus_one_for_no_bound(tmp_path: Path) -> None:
    assert cpu_quota(version_1(tmp_path, "-1\n")) == math.inf


@pytest.mark.parametrize("text", ["", "many 100000\n", "100000\n", "100000 0\n"])
def test_a_file_of_another_form_is_no_bound(tmp_path: Path, text: str) -> None:
    assert cpu_quota(version_2(tmp_path, text)) == math.inf
