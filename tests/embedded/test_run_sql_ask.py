"""`python -m src.run_sql ask --embedded` on the real model: it proposes, the code decides, and the data stays.

What the model writes is not judged: SmolLM2-135M writes poor SQL.
Run alone: python -m pytest tests/embedded/test_run_sql_ask.py
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from src.run_sql.database import create
from src.tools import digest
from tests.support.command import ROOT, environment

LIMIT_S = 600


@pytest.mark.model
@pytest.mark.timeout(LIMIT_S)
def test_a_question_gets_at_most_three_attempts_each_with_its_answer_and_nothing_is_written(tmp_path: Path) -> None:
    path = create(tmp_path / "reservo.db")
    before = digest(path)
    done = subprocess.run(
        [sys.executable, "-m", "src.run_sql", "ask", "--embedded", "How many rooms are there?", "--db", str(path)],
        cwd=ROOT,
        env=environment(R3_OUTPUTS=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    lines = done.stdout.splitlines()
    attempts = [line for line in lines if line.startswith("attempt ")]
    assert attempts == [f"attempt {number} of 3" for number in range(1, len(attempts) + 1)], done
    assert 1 <= len(attempts) <= 3
    answers = [json.loads(line) for line in lines if line.startswith('{"ok"')]
    assert [answer["ok"] for answer in answers] == [False] * (len(attempts) - 1) + [done.returncode == 0]
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert digest(path) == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["embedded-server.log", "reservo.db"]


@pytest.mark.model
@pytest.mark.timeout(LIMIT_S)
def test_the_tool_call_interface_goes_once_round_and_nothing_is_written(tmp_path: Path) -> None:
    path = create(tmp_path / "reservo.db")
    before = digest(path)
    command = ["ask", "--tools", "--embedded", "How many rooms are there?", "--db", str(path)]
    done = subprocess.run(
        [sys.executable, "-m", "src.run_sql", *command],
        cwd=ROOT,
        env=environment(R3_OUTPUTS=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [message["role"] for message in messages[:4]] == ["system", "user", "assistant", "tool"], done
    assert messages[2]["tool_calls"][0]["id"] == messages[3]["tool_call_id"]
    assert json.loads(messages[3]["content"])["ok"] in (True, False)
    assert done.returncode in (0, 1), done.stderr
    assert digest(path) == before
