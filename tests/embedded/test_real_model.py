"""The embedded route on the real model, from `scripts/quickstart.sh` to the end of its server.

Run alone: python -m pytest tests/embedded (about a minute on two cores: 40 questions)
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from src.base.errors import Precondition
from src.measures import verdicts
from src.runs import catalog
from src.tools import digest
from src.weights import models
from tests.support.command import ROOT, Ended, assert_one_line, cli, environment
from tests.support.project import copy_project
from tests.support.shared import once

QUICKSTART_LIMIT_S = 1500


@dataclass(frozen=True)
class Made:
    """What `quickstart.sh` printed, and the folders of its runs."""

    questions: int
    out: str
    folders: list[Path]


FEW = ("REF-007", "REF-999")  # in stock, unknown


def few(folder: Path) -> Path:
    """The shop with one question about each of `FEW`."""
    shop = catalog.shop()
    firsts = [next(query for query in shop["queries"] if query["ref"] == ref) for ref in FEW]
    path = folder / "few.json"
    path.write_text(json.dumps({**shop, "queries": firsts}), encoding="utf-8")
    return path


@pytest.fixture(scope="module", params=[len(FEW), pytest.param(30, marks=pytest.mark.model)])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Two runs of a few questions, or one of all thirty."""
    questions: int = request.param

    def quickstart(folder: Path) -> None:
        more = ["--runs", "2", "--data", str(few(folder))] if questions == len(FEW) else []
        done = subprocess.run(
            ["sh", "scripts/quickstart.sh", *more],
            cwd=ROOT,
            env=environment(R3_OUTPUTS=str(folder)),
            capture_output=True,
            text=True,
            timeout=QUICKSTART_LIMIT_S,
        )
        assert done.returncode == 0, (done.stdout[-3000:], done.stderr)
        (folder / "printed").write_text(done.stdout)

    folder = once(tmp_path_factory, f"quickstart-{questions}", quickstart)
    return Made(questions, (folder / "printed").read_text(), sorted(folder.glob("run-*")))


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.timeout(QUICKSTART_LIMIT_S)
def test_each_run_reads_every_product_right_and_refuses_seven_of_seven(made: Made) -> None:
    assert len(made.folders) == (2 if made.questions == len(FEW) else 1)
    for folder in made.folders:
        measures = read(folder / "evaluation.json")["measures"]
        assert (measures["queries"], measures["observation_correct"], measures["errors"]) == (made.questions, 1.0, 0)
        agent = read(folder / "agent.json")
        assert agent["complete"] and not agent["resumed"]
        assert agent["digest_before"] == agent["digest_after"] == digest(folder / "stock.db")
        negatives = read(folder / "negatives.json")
        assert (negatives["refused"], negatives["attempted"], negatives["unchanged"]) == (7, 7, True)
        assert not (folder / "agent.journal.jsonl").exists()


def test_two_runs_say_the_same_word_for_word(made: Made) -> None:
    first, last = (
        [
            (r["proposal"]["raw"], r["answer"]["raw"], r["answer"]["finish_reason"])
            for r in read(f / "agent.json")["results"]
        ]
        for f in (made.folders[0], made.folders[-1])
    )
    assert first == last and len(first) == made.questions
    assert len(made.folders) == 1 or "2 runs: the same proposals, observations and answers, word for word" in made.out


def test_quickstart_shows_a_refusal_then_one_question_in_full_then_a_line_for_each_and_the_verdict(made: Made) -> None:
    out, runs = made.out, len(made.folders)
    stages = ("question", "proposal", "check", "SQL", "observation", "answer", "delivered")
    order = ["■ Outil interdit", *(f"\n  {stage} " for stage in stages), "\nThe verdict\n", "\nNext, predict"]
    places = [out.index(mark) for mark in order]
    assert places == sorted(places)
    for stage in stages:
        assert out.count(f"\n  {stage} ") == 1, stage
    signs = "".join(sign for sign, _ in verdicts.OUTCOMES.values())
    assert len(re.findall(rf"^  [{signs}] +\d+  REF-", out, re.MULTILINE)) == made.questions * runs
    assert f"✓ {made.questions} of {made.questions} read correctly; database unchanged" in out
    assert "forbidden attempts: 7 refused out of 7" in out and ("observation_correct" in out) is (runs > 1)
    assert max(map(len, (line for line in out.splitlines() if str(made.folders[0].parent) not in line))) <= 80
    assert "\x1b" not in out


def test_the_page_is_the_last_that_is_shown_and_the_next_commands_stand_above_it(made: Made) -> None:
    folder = made.folders[-1]
    *_, build, predict, _blank, _words, page = made.out.splitlines()
    assert page == str(folder / "report.html") and (folder / "report.html").is_file()
    assert build.endswith(f"python -m src.cli --outputs {folder.parent} prepare")
    assert predict.endswith(f"python -m src.cli --outputs {folder.parent} exercise")


def test_the_server_had_the_deterministic_settings(made: Made) -> None:
    agent = read(made.folders[0] / "agent.json")
    server = agent["provenance"]["server"]
    assert (server["model"], server["quantisation"], server["slots"], server["context_tokens"], server["device"]) == (
        "SmolLM2-135M-Instruct Q4_1",
        "Q4_1",
        1,
        2048,
        "cpu",
    )
    pinned = models.load("embedded").files[0]
    assert server["files"] == [{"name": pinned.name, "sha256": pinned.sha256}]
    generations = [r[stage] for r in agent["results"] for stage in ("proposal", "answer")]
    assert all(generation["timings"]["cache_n"] == 0 for generation in generations)


def test_ask_shows_the_four_stages_of_a_question_of_ones_own(tmp_path: Path) -> None:
    assert cli("--outputs", tmp_path, "prepare").status == 0
    ended = cli("--embedded", "ask", "¿Cuál es el stock de REF-012?", "--lang", "es", "--outputs", tmp_path)
    assert (ended.status, ended.line) == (0, "")
    assert '{"ref": "REF-012", "name": "Produit 12", "stock": 69}' in ended.out
    assert read(tmp_path / "ask.json")["result"]["trace"][0]["call"]["arguments"] == {"ref": "REF-012"}


def children_of(pid: int) -> list[int]:
    """The processes that this one started, from /proc."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.kill),
        pytest.param(signal.SIGKILL, marks=pytest.mark.kill),
    ],
)
def test_no_server_outlives_its_program(number: signal.Signals, tmp_path: Path) -> None:
    assert cli("--outputs", tmp_path, "prepare").status == 0
    program = subprocess.Popen(
        [sys.executable, "-m", "src.cli", "--embedded", "--outputs", str(tmp_path), "agent"],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    while " 0  REF-000" not in program.stdout.readline():  # a question is finished, the next one is being answered
        assert program.poll() is None
    (server,) = children_of(program.pid)
    program.send_signal(number)
    _, err = program.communicate(timeout=60)
    for _ in range(100):
        if not Path(f"/proc/{server}").exists() or Path(f"/proc/{server}/stat").read_text().split()[2] == "Z":
            break
        time.sleep(0.1)
    else:
        os.kill(server, signal.SIGKILL)
        pytest.fail("the model server was still running ten seconds later")
    if number != signal.SIGKILL:
        line = Ended(program.returncode, "", err).line
        assert program.returncode == 1 and line.count("\n") == 1 and "agent --resume" in line, err
        assert read(tmp_path / "agent.json")["complete"] is False
    assert len((tmp_path / "agent.journal.jsonl").read_text().splitlines()) >= 2


def test_a_wrong_model_file_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    pinned = models.load("embedded").files[0]
    page = b"<html>not a model</html>"
    for content in (b"", b"GGUF", page, page.ljust(pinned.size, b" ")):
        (tmp_path / pinned.name).write_bytes(content)
        done = subprocess.run(
            [sys.executable, "-m", "src.server.embedded_server", "--models", str(tmp_path)],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=60,
        )
        error = json.loads(done.stdout)["error"]
        assert done.returncode == 2 and pinned.name in error and "expected" in error and "--model embedded" in error
        assert done.stderr == ""  # llama.cpp was not even loaded
    (tmp_path / pinned.name).unlink()
    with pytest.raises(Precondition, match="is missing"):
        models.checked(models.load("embedded"), tmp_path)


def test_a_missing_model_file_is_one_line_with_the_command_that_fetches_it(tmp_path: Path) -> None:
    copy = copy_project(tmp_path / "copy")
    assert cli("prepare", cwd=copy).status == 0
    assert_one_line(cli("--embedded", "agent", cwd=copy), 2, "is missing", "fetch_model.py --model embedded")
