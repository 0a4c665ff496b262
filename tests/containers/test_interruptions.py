"""What is left when a container ends in the middle of `agent`.

Needs an engine: bash .ci/containers.sh
"""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.containers.scene import OUTPUTS, ROOT, docker, must

GRACE_S = 10  # stop_grace_period of compose.yaml
WAIT_S = 240  # upper bound for two questions on a busy machine
AT_LEAST = 2  # finished questions before the interruption


@pytest.fixture
def folder() -> Iterator[Path]:
    """A results folder of the test's own, with a database; inside the container it has the same name."""
    made = OUTPUTS / "interrupted"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    shutil.copy(OUTPUTS / "stock.db", made / "stock.db")
    owner = OUTPUTS.stat()
    os.chown(made, owner.st_uid, owner.st_gid)  # the ids of the container, whoever runs the test
    yield made
    shutil.rmtree(made)


def start_agent(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start `agent` and wait until it has finished some questions; returns the process and the container's name."""
    name = f"r3-interrupted-{time.monotonic_ns()}"
    command = ["docker", "compose", "run", "--rm", "--no-deps", "-T", "--name", name]
    command += ["--env", f"R3_OUTPUTS=/app/outputs/{folder.name}", "app", "-m", "src.cli", "agent"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, stdin=subprocess.DEVNULL, text=True)
    journal, end = folder / "agent.journal.jsonl", time.monotonic() + WAIT_S
    while not journal.exists() or len(journal.read_text().splitlines()) <= AT_LEAST:  # the first line is no result
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, f"{AT_LEAST} questions took more than {WAIT_S} s"
        time.sleep(0.1)
    return process, name


def kept(folder: Path) -> int:
    """The number of whole results in agent.json."""
    results = json.loads((folder / "agent.json").read_text())["results"]
    assert [result["id"] for result in results] == list(range(len(results)))
    return len([result for result in results if result["error"] is None])


def last_line(err: str) -> str:
    assert "Traceback" not in err
    return err.strip().splitlines()[-1]


def half_written(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if re.search(r"\.tmp$|\.part$|^\.", path.name)]


def test_a_server_stopped_in_mid_run_ends_the_run_with_status_3_and_keeps_its_results(
    server: Callable[[], None], folder: Path
) -> None:
    server()
    process, _ = start_agent(folder)
    must("compose", "--profile", "cpu", "stop", "server-cpu")
    _, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 3, err
    assert "server" in last_line(err)
    assert "results are kept" in last_line(err)
    assert kept(folder) >= AT_LEAST
    assert half_written(folder) == []


def test_docker_stop_of_a_running_app_ends_in_its_grace_period_with_nothing_half_written(
    server: Callable[[], None], folder: Path
) -> None:
    server()
    process, name = start_agent(folder)
    # compose reports a container that someone else stops as status 1; the engine knows the program's own status
    waiting = subprocess.Popen(["docker", "wait", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    must("stop", name)  # the grace period is the container's own; after it the engine kills, which gives status 137
    _, err = process.communicate(timeout=WAIT_S)
    status, _ = waiting.communicate(timeout=GRACE_S)
    assert status.strip() in ("1", "143"), err  # its own end: 137 would be the engine's kill
    assert "interrupted by SIGTERM" in last_line(err)
    assert kept(folder) >= AT_LEAST
    assert half_written(folder) == []
    assert docker("inspect", name).returncode != 0, "the stopped container was not removed"
