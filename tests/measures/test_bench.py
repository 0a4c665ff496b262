"""`scripts/bench.py` measures every part it names and writes it down with the machine.

Run alone: python -m pytest tests/measures/test_bench.py
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import bench_fleet
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


def test_a_small_fleet_answers_everything_and_says_what_share_of_the_ideal_that_is() -> None:
    one, two = bench_fleet.fleet((1, 2), reply_ms=20, per_slot=3)
    for servers, found in ((1, one), (2, two)):
        assert found["in_flight"] == servers * bench_fleet.SLOTS and found["errors"] == 0
        assert 0 < found["share_of_ideal"] <= 1 and found["peak_mb"] > 10
        assert found["cards"] == pytest.approx(found["questions_a_second"] * 0.2473)


@pytest.mark.slow
def test_the_growth_of_a_run_is_measured_step_by_step() -> None:
    (found,) = bench_fleet.growth((40,))
    assert found["questions"] == 40 and found["errors"] == 0
    for step in ("prepare", "agent", "evaluate", "compare", "report"):
        assert all(figure > 0 for figure in found[step]), step
    for figure in ("resume_s", "agent_json_mb", "page_mb"):
        assert found[figure] > 0, figure
