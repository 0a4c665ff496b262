"""`ask --tools`: the call, its result and the sentence, as messages; the code decides there as everywhere.

Run alone: python -m pytest tests/run_sql/test_ask_tools.py
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from src.run_sql import run_sql_tool
from src.run_sql.ask import MAX_ATTEMPTS
from src.run_sql.cli import main
from tests.run_sql import harness
from tests.support import faulty_server
from tests.support.faulty_server import MODEL, FaultyServer, Request, completion, http

QUESTION = "¿Cuántas salas hay?"
GOOD = "SELECT count(*) FROM rooms"
SENTENCE = "Hay 5 salas."


def calling(query: Any, name: str = "run_sql", identity: str = "call_7", **more: Any) -> bytes:
    """Return a reply that calls a tool; `query` that is no text stands for the arguments themselves."""
    arguments = json.dumps({"query": query}) if isinstance(query, str) else query[0]
    call = {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call], **more}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    return http(json.dumps({"model": MODEL, "choices": [choice]}).encode())


@contextmanager
def answering(monkeypatch: pytest.MonkeyPatch, *replies: bytes | None) -> Iterator[FaultyServer]:
    """Serve these replies, as `faulty_server.answering`, under the address that the program asks."""
    with faulty_server.answering(*replies) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        yield server


def ask(reservo: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, Any]], str]:
    """Run the command; return its status, the messages that it printed, and its line on stderr."""
    status = main(["ask", "--tools", QUESTION, "--db", str(reservo)])
    printed = capsys.readouterr()
    return status, [json.loads(line) for line in printed.out.splitlines() if line.startswith("{")], printed.err


def completions(server: FaultyServer) -> list[Request]:
    """Return the completions that were asked for."""
    return [request for request in server.requests if request.stage]


def test_the_loop_is_a_call_its_result_and_a_sentence(
    reservo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(monkeypatch, calling(GOOD), http(completion(SENTENCE))) as server:
        status, messages, line = ask(reservo, capsys)
    assert (status, line) == (0, "")
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert messages[1]["content"] == QUESTION
    assert messages[2]["tool_calls"][0]["id"] == messages[3]["tool_call_id"] == "call_7"
    assert json.loads(messages[3]["content"])["rows"] == [[5]]
    assert messages[4]["content"] == SENTENCE
    first, second = completions(server)
    assert first.body["tools"] == second.body["tools"]
    assert first.body["tools"][0]["function"]["parameters"] == run_sql_tool["input_schema"]
    assert (first.body["tool_choice"], second.body["tool_choice"]) == ("required", "none")
    assert (first.body["messages"], second.body["messages"]) == (messages[:2], messages[:4])


def test_a_model_that_writes_no_call_is_asked_under_the_schema_and_the_message_says_so(
    reservo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    proposal = http(completion(json.dumps({"query": GOOD})))
    with answering(monkeypatch, http(completion("Hola")), proposal, http(completion(SENTENCE))) as server:
        status, messages, _ = ask(reservo, capsys)
    assert status == 0
    assert messages[2]["tool_calls"][0]["id"] == messages[3]["tool_call_id"] == "by_schema"
    assert "response_format" in completions(server)[1].body
    assert "Hola" not in json.dumps(completions(server)[2].body)


REFUSED = [
    (calling("DELETE FROM rooms"), "no es de solo lectura (empieza con DELETE)"),
    (calling("WITH x AS (SELECT 1) DELETE FROM rooms"), "not authorized (DELETE rooms)"),
    (calling("SELECT SUM(b.total) FROM bookings b"), "no such column: b.total"),
    (calling(GOOD, name="drop_table"), "la única herramienta es run_sql"),
    (calling(['{"query": 7}']), "la propuesta no es"),
    (calling(['{"query": "SELECT 1", "x": 1}']), "la propuesta no es"),
    (calling(['{"query": "SELECT 1", "query": "SELECT 2"}']), "repeats a key"),
    (calling(["SELECT 1"]), "not JSON"),
]


@pytest.mark.parametrize(("reply", "words"), REFUSED)
def test_a_call_that_may_not_run_is_refused_in_the_result_and_the_model_may_correct_it(
    reservo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reply: bytes, words: str
) -> None:
    before = harness.snapshot(reservo.parent)
    with answering(monkeypatch, reply, calling(GOOD), http(completion(SENTENCE))) as server:
        status, messages, _ = ask(reservo, capsys)
    assert status == 0
    refusal = json.loads(messages[3]["content"])
    assert refusal["ok"] is False
    assert words in refusal["error"]
    assert completions(server)[1].body["messages"] == messages[:4]
    assert messages[-1]["content"] == SENTENCE
    assert harness.snapshot(reservo.parent) == before


@pytest.mark.parametrize("reply", [calling("DROP TABLE rooms"), http(b"{}"), http(b"[1]"), http(b"\xff", "500 No")])
def test_there_are_three_attempts_and_then_one_line(
    reservo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reply: bytes
) -> None:
    with answering(monkeypatch, *[reply] * 9) as server:
        status, messages, line = ask(reservo, capsys)
    assert status == 1
    assert "no query was accepted in 3 attempts, the last error being: " in line
    assert line.count("\n") == 1
    assert len(completions(server)) == MAX_ATTEMPTS
    assert not [message for message in messages[2:] if message["role"] == "assistant" and message["content"]]


@pytest.mark.parametrize("last", [http(completion("")), http(b"<html>"), calling(GOOD)])
def test_without_a_sentence_the_answer_stands(
    reservo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], last: bytes
) -> None:
    with answering(monkeypatch, calling(GOOD), last):
        status, messages, _ = ask(reservo, capsys)
    assert status == 0
    assert json.loads(messages[-1]["content"])["rows"] == [[5]]


@pytest.mark.parametrize("replies", [[None], [calling(GOOD), None], [http(completion("Hola")), None]])
def test_a_server_that_goes_away_is_status_3(
    reservo: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    replies: list[bytes | None],
) -> None:
    with answering(monkeypatch, *replies) as server:
        status, _, line = ask(reservo, capsys)
    assert (status, line.count("\n")) == (3, 1)
    assert server.url in line


def test_what_a_model_writes_cannot_steer_the_terminal(
    reservo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "\x1b]0;x\x07\u202e"
    with answering(monkeypatch, calling(f"SELECT '{evil}'", identity=evil), http(completion(evil))):
        assert main(["ask", "--tools", QUESTION, "--db", str(reservo)]) == 0
    assert all(character.isprintable() or character == "\n" for character in capsys.readouterr().out)
