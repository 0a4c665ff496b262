"""Every hostile or odd query of `cases.json` and `neighbours.py`: outcome, file unchanged, memory and time bounded.

Run alone: python -m pytest tests/run_sql/test_cases.py
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.run_sql import harness
from tests.run_sql.neighbours import CASES as NEIGHBOURS

GIVEN: list[dict[str, Any]] = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))
CASES = [*GIVEN, *NEIGHBOURS]


def test_no_case_is_lost_and_no_name_is_used_twice() -> None:
    assert len(GIVEN) == 101
    assert len({case["id"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_outcome_is_the_documented_one_and_nothing_is_written(case: dict[str, Any], tmp_path: Path) -> None:
    path = harness.lay_out(tmp_path)
    before = harness.snapshot(tmp_path)
    report = harness.run_case(path, {key: case[key] for key in ("calls", "max_rows") if key in case})

    for answer in report["answers"]:
        harness.check_answer(answer)
        harness.count(f"calls of the case tables {'answered' if answer['ok'] else 'refused'}")
    accepted = {answer["ok"] for answer in report["answers"]}
    assert len(report["answers"]) == len(case["calls"])
    expected = {"refuse": {False}, "answer": {True}}.get(case["want"], accepted)
    assert accepted == expected, report["answers"]
    assert harness.snapshot(tmp_path) == before
    assert report["peak_kib"] <= harness.PEAK_KIB
    assert max(report["seconds"]) <= harness.CALL_CPU_SECONDS
    harness.record("CPU seconds of a call", max(report["seconds"]), case["id"])
    harness.record("added memory in MiB", report["peak_kib"] / 1024, case["id"])
