"""`ask`: the model proposes, run_sql decides, and three attempts are three requests, counted at the server.

Run alone: python -m pytest tests/run_sql/test_ask.py
"""

import json
from pathlib import Path

import pytest

from src.run_sql import ask, run_sql_tool
from src.run_sql.cli import main
from src.run_sql.guard import Reservo
from tests.run_sql import harness
from tests.run_sql.test_cli import run
from tests.support.faulty_server import answering, completion, http

GOOD = "SELECT count(*) FROM rooms"
BAD = "SELECT SUM(b.total) FROM bookings b"
NO_COLUMN = "OperationalError: no such column: b.total"
QUESTION = "¿Cuántas salas hay?"


def proposal(query: str) -> bytes:
    """Return a reply that proposes `query`."""
    return http(completion(json.dumps({"query": query})))


def test_the_first_accepted_query_ends_it(reservo: Path) -> None:
    with answering(proposal(GOOD), proposal(GOOD)) as server:
        done = run("ask", QUESTION, "--db", str(reservo), LLM_BASE_URL=server.url, R3_EMBEDDED="")
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:2] == ["attempt 1 of 3", f"   {GOOD}"]
    assert json.loads(lines[2])["rows"] == [[5]]
    assert len(server.asked("proposal")) == 1


def test_an_error_goes_back_to_the_model_and_the_correction_is_run(reservo: Path) -> None:
    with answering(proposal(BAD), proposal(GOOD)) as server:
        done = run("ask", QUESTION, "--db", str(reservo), LLM_BASE_URL=server.url)
    assert done.status == 0
    assert NO_COLUMN in done.out
    assert json.loads(done.out.splitlines()[-1])["ok"]
    first, second = (request.asked for request in server.asked("proposal"))
    assert first == f"Pregunta: {QUESTION}"
    assert second.startswith(first)
    assert BAD in second
    assert NO_COLUMN in second


def test_there_are_three_attempts_and_no_fourth_request(reservo: Path) -> None:
    before = harness.snapshot(reservo.parent)
    replies = [proposal(query) for query in ("DROP TABLE rooms", "WITH x AS (SELECT 1) DELETE FROM rooms", BAD, GOOD)]
    with answering(*replies) as server:
        done = run("ask", QUESTION, "--db", str(reservo), LLM_BASE_URL=server.url)
    assert done.status == 1
    assert len(server.asked("proposal")) == 3
    assert [text for text in done.out.splitlines() if text.startswith("attempt")] == [
        f"attempt {number} of 3" for number in (1, 2, 3)
    ]
    assert done.out.count('"ok": false') == 3
    assert done.err.count("\n") == 1
    assert f"no query was accepted in 3 attempts, the last error being: {NO_COLUMN}" in done.err
    assert harness.snapshot(reservo.parent) == before


UNUSABLE = [
    (http(completion('{"query": "SELECT co', "length")), "propuesta cortada (length)"),
    (http(completion("")), "the model wrote nothing"),
    (http(completion("SELECT 1")), "not JSON"),
    (http(completion('{"query": 7}')), "la propuesta no es"),
    (http(completion('{"query": "SELECT 1", "x": 1}')), "la propuesta no es"),
    (http(completion('{"query": "SELECT 1", "query": "SELECT 2"}')), "repeats a key"),
    (http(completion('["SELECT 1"]')), "la propuesta no es"),
    (http(completion('{"query": "SELECT \\ud800"}')), "no existen en UTF-8"),
    (http(completion('{"query": ""}')), "consulta vacía"),
    (http(b'{"error":{"message":"does not match"}}', "500 Internal Server Error"), "HTTP 500: does not match"),
    (http(b"<html>"), "the reply is not JSON"),
]


@pytest.mark.parametrize(("reply", "words"), UNUSABLE)
def test_an_unusable_reply_is_an_attempt_with_its_error_and_is_never_repaired(
    con: Reservo, monkeypatch: pytest.MonkeyPatch, reply: bytes, words: str
) -> None:
    seen: list[ask.Attempt] = []
    with answering(reply, proposal(GOOD)) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        attempts = ask.ask(QUESTION, con, seen.append)
    assert seen == attempts
    assert words in attempts[0].answer["error"]
    assert [attempt.answer["ok"] for attempt in attempts] == [False, True]


def test_a_server_that_goes_away_is_status_3_and_no_attempt(reservo: Path) -> None:
    with answering(proposal(BAD), None) as server:
        done = run("ask", QUESTION, "--db", str(reservo), LLM_BASE_URL=server.url)
    assert done.status == 3
    assert "attempt 2" not in done.out
    assert server.url in done.err
    assert done.err.count("\n") == 1


def test_what_a_model_writes_cannot_steer_the_terminal(reservo: Path) -> None:
    with answering(*[proposal("SELECT '\x1b]0;x\x07\u202e' FROM nowhere")] * 3) as server:
        done = run("ask", QUESTION, "--db", str(reservo), LLM_BASE_URL=server.url)
    assert all(character.isprintable() or character == "\n" for character in done.out + done.err)


def test_the_request_binds_the_model_to_the_tools_schema_and_shows_it_the_tables(
    con: Reservo, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(proposal(GOOD)) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        ask.ask(QUESTION, con, lambda attempt: None)
    request = server.asked("proposal")[0].body
    schema = request["response_format"]["json_schema"]["schema"]
    assert schema == {**run_sql_tool["input_schema"], "additionalProperties": False}
    assert request["temperature"] == 0
    system = request["messages"][0]["content"]
    assert system.startswith(run_sql_tool["description"])
    for table in ("rooms", "members", "bookings", "payments"):
        assert f"CREATE TABLE {table} (" in system


@pytest.mark.parametrize("question", ["", "  ", "\xa0", "¿Cu\udce1ntas?"])
def test_a_question_that_is_no_text_is_refused_before_any_request(
    reservo: Path, question: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", question, "--db", str(reservo)]) == 2
    assert "the question is empty or not UTF-8 text" in capsys.readouterr().err


@pytest.mark.parametrize(
    "question", ["¿Cuántas salas hay\u202f?", "10\xa0€?", "\U0001f469\u200d\U0001f680?", "a\nb", "\u200fكم؟"]
)
def test_a_question_is_whatever_the_assistant_takes_for_one(
    reservo: Path, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(proposal(GOOD)) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        assert main(["ask", question, "--db", str(reservo)]) == 0
    assert server.asked("proposal")[0].asked == f"Pregunta: {question}"


def test_a_missing_database_is_noticed_before_a_model_is_loaded(tmp_path: Path) -> None:
    done = run("ask", QUESTION, "--embedded", "--db", str(tmp_path / "no.db"))
    assert done.status == 2
    assert "make one with" in done.err
    assert list(tmp_path.iterdir()) == []
