"""Several questions in flight, and guarded wording, through the command line and a stand-in server.

Run alone: python -m pytest tests/measures/test_jobs.py
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from src.base.errors import Interrupted, Precondition, ServerUnavailable
from src.base.messages import LANGUAGES
from src.base.paths import ROOT
from src.base.records import Result
from src.cli import main
from src.commands import prepare
from src.commands.agent import MAX_JOBS
from src.measures import compare
from src.runs import catalog, database, jobs, recovery, session
from src.runs.outputs import Outputs
from tests.measures.conftest import Make
from tests.support.instant_server import InstantServer, honest, reply

Serve = Callable[..., InstantServer]


def run_of(outputs: Outputs) -> Any:
    return json.loads(outputs.json("agent").read_text(encoding="utf-8"))


def uneven(body: dict[str, Any]) -> str:
    """Answer the earlier questions later, so that results come out of order."""
    time.sleep(0.03 if "REF-000" in body["messages"][-1]["content"] else 0.001)
    return honest(body)


def test_several_in_flight_give_the_results_of_one_at_a_time_in_order(make: Make) -> None:
    alone, together = make("alone"), make("together", script=uneven, slots=4, in_flight=4)
    assert [result["id"] for result in run_of(together)["results"]] == list(range(30))
    assert compare.changed([run_of(alone), run_of(together)]) == []


def test_as_many_requests_as_jobs_are_open_at_once(make: Make) -> None:
    meeting = threading.Barrier(4, timeout=20)  # broken, and the question with it, unless four meet

    def together(body: dict[str, Any]) -> str:
        if "response_format" in body:
            meeting.wait()
        return honest(body)

    def four(body: dict[str, Any]) -> str:
        return together(body) if body["messages"][-1]["content"] in firsts else honest(body)

    firsts = [item["query"] for item in catalog.shop()["queries"][:4]]
    run = run_of(make(script=four, slots=4, in_flight=4))
    assert [result["error"] for result in run["results"]] == [None] * 30


def test_every_question_is_asked_exactly_once(make: Make, serve: Serve, tmp_path: Path) -> None:
    asked: list[str] = []

    def remember(body: dict[str, Any]) -> str:
        if "response_format" in body:
            asked.append(body["messages"][-1]["content"])
        return honest(body)

    run = run_of(make(script=remember, slots=8, in_flight=8))
    assert sorted(asked) == sorted(result["query"] for result in run["results"])


def test_three_transport_failures_in_a_row_end_a_parallel_run_with_what_is_finished(
    make: Make, serve: Serve, tmp_path: Path
) -> None:
    outputs = Outputs(tmp_path / "gone")

    def ends(body: dict[str, Any]) -> str:
        if len(server.asked) == 20:
            server.cut()
        return honest(body)

    server = serve(ends, 4)
    prepare.prepare(outputs, catalog.DATA)
    run = session.begin(outputs, catalog.DATA, "en", lambda _: None, in_flight=4)

    with pytest.raises(ServerUnavailable, match="in a row"):
        session.work(run, lambda _: None)
    kept = run_of(outputs)
    assert kept["complete"] is False
    assert len([result for result in kept["results"] if result["error"] is None]) >= 5
    serve(honest, 4)
    again = session.begin(outputs, catalog.DATA, "en", lambda _: None, in_flight=4)
    recovery.resume(again, lambda _: None)
    session.work(again, lambda _: None)
    assert run_of(outputs)["complete"] is True
    assert all(result["error"] is None for result in run_of(outputs)["results"])


def test_a_run_is_not_resumed_with_another_guard_or_another_number_of_jobs(serve: Serve, tmp_path: Path) -> None:
    outputs = Outputs(tmp_path / "cut")
    serve(honest, 4)
    prepare.prepare(outputs, catalog.DATA)
    run = session.begin(outputs, catalog.DATA, "en", lambda _: None, guarded=True)

    def stop(_: Result) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        session.work(run, stop)
    before = outputs.journal.read_bytes()
    for how in ({"guarded": False}, {"guarded": True, "in_flight": 4}):
        other = session.begin(outputs, catalog.DATA, "en", lambda _: None, **how)
        with pytest.raises(Precondition, match=r"under different conditions: (guard_answers|jobs)"):
            recovery.resume(other, lambda _: None)
    assert outputs.journal.read_bytes() == before


def test_ctrl_c_leaves_at_once_while_replies_are_awaited(serve: Serve, tmp_path: Path) -> None:
    asked = threading.Event()
    released = threading.Event()

    def stalling(body: dict[str, Any]) -> str:
        if "response_format" in body and "REF-000" not in body["messages"][-1]["content"]:
            asked.set()
            released.wait(60)
        return honest(body)

    server = serve(stalling, 4)
    outputs = Outputs(tmp_path / "stalled")
    prepare.prepare(outputs, catalog.DATA)
    command = [sys.executable, "-m", "src.cli", "--outputs", str(outputs.folder), "agent", "--jobs", "4"]
    env = {**os.environ, "LLM_BASE_URL": server.url, "PYTHONUNBUFFERED": "1"}
    child = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        while "REF-000" not in (line := child.stdout.readline()):
            assert line, "the run ended before its first result"
        assert asked.wait(30)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=30)  # a reply would take 60 s, its deadline 120
    finally:
        released.set()
        child.kill()
        child.wait()
    assert child.returncode == 1
    assert errors.count("\n") == 1
    assert "interrupted" in errors
    assert [result["ref"] for result in run_of(outputs)["results"]] == ["REF-000"]


def test_a_worker_that_breaks_is_reported_and_waits_for_nobody(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve()
    outputs = Outputs(tmp_path / "broken")
    prepare.prepare(outputs, catalog.DATA)
    questions = catalog.questions(catalog.load(), "en")

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(jobs, "ask", broken)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    with pytest.raises(RuntimeError, match="30 questions were not asked"):
        list(jobs.answered(outputs, questions, 4))


def test_a_database_that_a_worker_cannot_open_is_one_line(
    make: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs, connect = make(), database.connect

    def gone(folder: Outputs) -> Any:
        if threading.current_thread() is not threading.main_thread():
            raise Precondition("the database went away")
        return connect(folder)

    monkeypatch.setattr(database, "connect", gone)
    capsys.readouterr()
    assert main(["--outputs", str(outputs.folder), "agent", "--jobs", "3"]) == 2
    assert capsys.readouterr().err.endswith("\npython -m src.cli agent: the database went away\n")


def test_more_threads_than_the_machine_allows_is_one_line_with_the_remedy(
    make: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs, start = make(), threading.Thread.start

    def limited(self: threading.Thread) -> None:
        if self.name == "question-2":
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", limited)
    capsys.readouterr()
    assert main(["--outputs", str(outputs.folder), "agent", "--jobs", "3"]) == 2
    assert "--jobs 3: can't start new thread; use a smaller number" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["0", "-1", str(MAX_JOBS + 1), "many"])
def test_a_senseless_number_of_jobs_is_refused(
    make: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path, number: str
) -> None:
    outputs = make()
    capsys.readouterr()
    try:
        status: Any = main(["--outputs", str(outputs.folder), "agent", "--jobs", number])
    except SystemExit as exc:
        status = exc.code
    assert status == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_run_without_the_guard_has_no_delivered_field(make: Make) -> None:
    assert all("delivered" not in result for result in run_of(make())["results"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_with_the_guard_every_delivered_sentence_carries_the_marker(make: Make, language: str) -> None:
    outputs = make(
        script=lambda body: honest(body) if "response_format" in body else "On 12 May it was 7",
        language=language,
        guarded=True,
    )
    run = run_of(outputs)
    assert {result["answer"]["raw"] for result in run["results"]} == {"On 12 May it was 7"}  # kept as written
    from src import evaluate

    _, evaluation = evaluate.evaluate_run(outputs, catalog.DATA)
    delivered = evaluation["beyond"]["delivered"]
    assert delivered is not None and delivered["marker_present"] == 1.0
    assert delivered["faults"]["unsupported_number"]["count"] == 0
    assert evaluation["measures"]["answer_marker_present"] < 1.0  # the published measure still reads the model


ASK = "What is the stock level for REF-007?"


def asked(outputs: Outputs, *options: str) -> tuple[int, dict[str, Any]]:
    status = main(["--outputs", str(outputs.folder), "ask", ASK, *options])
    newest = max(outputs.folder.glob("ask*.json"), key=lambda file: file.stat().st_mtime_ns)
    return status, json.loads(newest.read_text(encoding="utf-8"))["result"]


def test_ask_guards_the_sentence_unless_told_otherwise(make: Make, serve: Serve) -> None:
    outputs = make()
    serve(lambda body: honest(body) if "response_format" in body else "Maybe 97.")
    status, result = asked(outputs)
    assert (status, result["answer"]["raw"]) == (0, "Maybe 97.")
    assert result["delivered"]["text"] == "The stock of REF-007 is 9."
    status, result = asked(outputs, "--no-guard-answers")
    assert status == 0
    assert "delivered" not in result


def test_ask_delivers_the_observation_when_the_wording_failed(
    make: Make, serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = make()
    serve(lambda body: honest(body) if "response_format" in body else {"choices": []})
    status, result = asked(outputs, "--lang", "vi")
    assert status == 3  # the server failed all the same
    assert result["delivered"] == {
        "text": "Tồn kho của REF-007 là 9.",
        "source": "observation",
        "reasons": ["no_answer"],
    }
    assert "Tồn kho của REF-007 là 9." in capsys.readouterr().out


def test_a_cut_answer_is_replaced(make: Make, serve: Serve) -> None:
    outputs = make()
    serve(lambda body: honest(body) if "response_format" in body else reply("9 and", "length"))
    _, result = asked(outputs)
    assert result["delivered"]["reasons"] == ["cut"]
