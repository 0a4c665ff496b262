"""Every hostile or odd query of `cases.json` and `neighbours.py`: outcome, file unchanged, memory and time bounded.

Run alone: python -m pytest tests/run_sql/test_cases.py
"""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from src.run_sql import run_sql
from src.run_sql.guard import Reservo
from tests.run_sql import harness
from tests.run_sql.neighbours import CASES as NEIGHBOURS
from tests.run_sql.worker import expand
from tests.support.depth import spread

GIVEN: list[dict[str, Any]] = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))
CASES = [*GIVEN, *NEIGHBOURS]


def test_no_case_is_lost_and_no_name_is_used_twice() -> None:
    assert len(GIVEN) == 101
    assert len({case["id"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", spread(CASES, len(CASES) // 4), ids=lambda case: case["id"])
def test_outcome_is_the_documented_one_and_nothing_is_written(
    case: dict[str, Any], hostile: tuple[Path, Reservo]
) -> None:
    path, con = hostile
    before = harness.snapshot(path.parent)
    limits = {"max_rows": case["max_rows"]} if "max_rows" in case else {}
    answers = []
    for call in case["calls"]:
        start = time.monotonic()
        answers.append(run_sql(expand(call), con, **limits))
        harness.record("seconds of a call", time.monotonic() - start, case["id"])

    for answer in answers:
        harness.check_answer(answer)
        harness.count(f"calls of the case tables {'answered' if answer['ok'] else 'refused'}")
    accepted = {answer["ok"] for answer in answers}
    expected = {"refuse": {False}, "answer": {True}}.get(case["want"], accepted)
    assert accepted == expected, answers
    assert harness.snapshot(path.parent) == before
