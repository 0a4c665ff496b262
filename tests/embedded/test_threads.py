"""How many threads the embedded server computes with: every core, never more than a container's share of them.

The kernel's files are the test's own. Run alone: python -m pytest tests/embedded/test_threads.py
"""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from src.server.processors import Threads, cpu_quota, threads_for
from tests.support.command import ROOT, environment
from tests.support.depth import few

CORES = 16


@pytest.fixture(autouse=True)
def sixteen_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(CORES)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: CORES)
    monkeypatch.setattr(sys, "platform", "linux")


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
def test_a_share_of_the_processors_is_used_whole_and_not_exceeded(tmp_path: Path, text: str, threads: int) -> None:
    (tmp_path / "2").mkdir()
    (tmp_path / "1").mkdir()
    quota, period = text.split()
    assert threads_for(version_2(tmp_path / "2", text)) == (threads, threads)
    assert threads_for(version_1(tmp_path / "1", quota, period)) == (threads, threads)


@pytest.mark.parametrize("bound", ["", "1600000 100000\n", "max 100000\n"])
def test_every_core_reads_and_one_fewer_writes(tmp_path: Path, bound: str) -> None:
    assert threads_for(version_2(tmp_path, bound) if bound else tmp_path) == Threads(CORES - 1, reading=CORES)


@pytest.mark.parametrize(("cores", "threads"), [(1, (1, 1)), (2, (1, 2))])
def test_on_few_cores_one_thread_writes(
    tmp_path: Path, cores: int, threads: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    assert threads_for(tmp_path) == threads


def test_with_another_openmp_one_core_stays_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert threads_for(tmp_path) == (CORES - 1, CORES - 1)


def test_version_1_says_minus_one_for_no_bound(tmp_path: Path) -> None:
    assert cpu_quota(version_1(tmp_path, "-1\n")) == math.inf


@pytest.mark.parametrize("text", ["", "many 100000\n", "100000\n", "100000 0\n"])
def test_a_file_of_another_form_is_no_bound(tmp_path: Path, text: str) -> None:
    assert cpu_quota(version_2(tmp_path, text)) == math.inf


def serve(*args: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """The server's own command line, as the server-cpu container starts it."""
    command = [sys.executable, "-m", "src.server.embedded_server", "--models", os.devnull, *args]
    return subprocess.run(
        command, cwd=ROOT, env=environment(**env), capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("value", few(["0", "-3", "99999", "two", "１"]))
def test_a_number_of_threads_that_makes_no_sense_is_one_line_on_every_way_in(value: str) -> None:
    done = serve(R3_THREADS=value)
    assert done.returncode == 2 and done.stderr == "" and done.stdout.count("\n") == 1
    assert f"R3_THREADS={value!r} is not a number of threads from 1 to 1024" in json.loads(done.stdout)["error"]
    done = serve(f"--threads={value}")
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert f"--threads: {value!r} is not a whole number from 1 to 1024" in done.stderr


@pytest.mark.parametrize(("name", "value"), [("--slots", "0"), ("--slots", "-1"), ("--ctx", "0"), ("--port", "65536")])
def test_the_other_numbers_of_the_server_are_bounded_too(name: str, value: str) -> None:
    done = serve(f"{name}={value}")
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert f"{name}: {value!r} is not a whole number from" in done.stderr


@pytest.mark.parametrize(("given", "spins"), [("", "1000"), ("77", "77")])
def test_waiting_threads_spin_briefly_unless_the_caller_says_otherwise(given: str, spins: str) -> None:
    """What GNU OpenMP itself reports of its settings while the real server starts."""
    env = environment(OMP_DISPLAY_ENV="verbose", GOMP_SPINCOUNT=given)
    if not given:
        del env["GOMP_SPINCOUNT"]
    command = [sys.executable, "-m", "src.server.embedded_server", "--end-with-stdin"]
    done = subprocess.run(
        command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True
    )
    assert f"GOMP_SPINCOUNT = '{spins}'" in done.stderr
    assert "url" in json.loads(done.stdout)
