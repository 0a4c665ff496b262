"""A forked command is what a new interpreter would be, and it can be ended from outside.

Run alone: python -m pytest tests/support/test_forked.py
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import forked
from tests.support.inprocess import Ended
from tests.support.project import ROOT, environment

LIMIT_S = 30  # upper bound on something that takes milliseconds
COMMANDS = [
    ("src.cli", "--version", 0),
    ("src.cli", "negatives", 2),
    ("src.cli", "evaluate --help", 0),
    ("src.run_sql", "exercises", 2),
    ("src.run_sql", "zzz", 2),
    ("src.weights.fetch", "--model nobody", 2),
]


@pytest.mark.parametrize(("program", "words", "status"), COMMANDS)
def test_a_forked_command_prints_and_ends_as_one_in_a_new_interpreter(
    program: str, words: str, status: int, tmp_path: Path
) -> None:
    env = environment(R3_OUTPUTS=str(tmp_path))
    command = [sys.executable, "-m", program, *words.split()]
    done = subprocess.run(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    ended = forked.run(program, *words.split(), env=env)
    assert ended == Ended(done.returncode, done.stdout, done.stderr) and ended.status == status


def test_a_forked_command_is_ended_by_a_signal_and_by_a_limit_of_time(tmp_path: Path) -> None:
    env = environment(R3_OUTPUTS=str(tmp_path), LLM_BASE_URL="http://127.0.0.1:1", LLM_WAIT_S="60")
    assert forked.run("src.cli", "prepare", env=env).status == 0
    with forked.start("src.cli", "ask", "REF-000?", env=env) as waits:
        assert waits.poll() is None
        waits.kill()
        assert waits.ended().status == waits.poll() == -signal.SIGKILL
    with forked.start("src.cli", "ask", "REF-000?", env=env) as waits, pytest.raises(subprocess.TimeoutExpired):
        waits.ended(0.1)
    assert not forked.alive(waits.pid)


ASKS = """
import os
from tests.support import forked
with forked.start("src.cli", "--version", env=os.environ) as process:
    watching = forked.parent(process.pid)
    print(watching, forked.parent(watching))
"""


def test_the_process_that_forks_ends_with_the_one_that_asked() -> None:
    done = subprocess.run([sys.executable, "-c", ASKS], cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for process in map(int, done.stdout.split()):
        end = time.monotonic() + LIMIT_S
        while forked.alive(process):
            assert time.monotonic() < end
            time.sleep(0.01)
