"""`scripts/bench.py` measures every part it names and writes it down with the machine.

Run alone: python -m pytest tests/measures/test_bench.py
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from src.base.paths import ROOT

COMMANDS = ("--help", "prepare", "agent (30 questions)", "negatives", "evaluate", "exercise", "ask", "report")


@pytest.mark.slow
def test_a_short_bench_gives_every_figure_with_its_unit_and_the_machine(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    command = [sys.executable, "scripts/bench.py", "--pairs", "4", "--starts", "1", "--output", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text(encoding="utf-8"))
    rows = {row["what"]: row for row in found["rows"]}
    assert {f"{name}, s" for name in COMMANDS} < set(rows)
    assert rows["client, added, ms a question"]["target"] == 3.0
    assert rows["toolcall, us"]["median"] > 0
    assert rows["guard, ms a sentence"]["median"] > 0
    assert all(rows[f"{name}, s"]["peak_mb"] > 1 for name in COMMANDS)
    assert {"program", "python", "cpu", "time", "load_before", "load_after"} <= set(found["machine"])
    assert all(what in done.stdout for what in rows)
