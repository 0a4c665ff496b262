"""Ctrl-C in `quickstart.sh`, with the real model: the command that it prints finishes the route, wherever it is pasted.

Run alone: python -m pytest tests/embedded/test_interrupted.py
"""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.embedded.test_real_model import few, read
from tests.support.project import ROOT, environment

LIMIT_S = 300


@pytest.mark.model
@pytest.mark.timeout(LIMIT_S)
def test_the_command_that_an_interrupted_quickstart_prints_finishes_it_from_where_it_was_started(
    tmp_path: Path,
) -> None:
    start, results = tmp_path / "it's elsewhere", tmp_path / "$(results) of\nmine"
    start.mkdir()
    words = ["sh", os.path.relpath(ROOT / "scripts" / "quickstart.sh", start), "--lang", "es", "--data", few(tmp_path)]
    process = subprocess.Popen(
        [*map(str, words)],
        cwd=start,
        env=environment(R3_OUTPUTS=str(results), PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    journal, waited = results / "run-001" / "agent.journal.jsonl", time.monotonic()
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 1) and time.monotonic() - waited < LIMIT_S / 2:
        time.sleep(0.1)  # until the first question is answered
    process.send_signal(signal.SIGINT)
    lines = process.communicate(timeout=LIMIT_S)[0].splitlines()
    assert process.returncode == 1, lines
    command = lines[-1].partition("finish with: ")[2]
    assert command.startswith("cd ") and not (results / "run-001" / "report.html").exists(), lines[-5:]
    done = subprocess.run(["bash", "-c", command], cwd=start, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    run = read(results / "run-001" / "agent.json")
    assert run["complete"] and run["resumed"] and run["provenance"]["language"] == "es"
    assert (results / "run-001" / "report.html").exists() and not (results / "run-001" / "route.json").exists()
