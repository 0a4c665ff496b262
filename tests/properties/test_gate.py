"""For whatever value, the gate reads once or raises the documented `ValueError`; refused calls never reach SQL.

Run alone with: python -m pytest tests/properties
"""

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from src import agent
from src.base.printable import excerpt
from src.base.records import Generation
from src.runs import catalog
from src.server.reply import BadReply, decode, read_reply
from src.tools import INSERT, READ, TABLE, TOOLS, toolcall
from tests.properties.values import ANY, CALLS, COUNTS, HOSTILE, JSON, PROPOSALS
from tests.support import tally
from tests.support.generated import tries
from tests.support.project import ROOT

REFUSALS = {
    "Budget d’appels épuisé ou invalide",
    "Outil interdit ou appel mal formé",
    "Référence ou arguments invalides",
}


class NoSql:
    """A database on which any use at all is a failure."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a refused call reached the database: {name}")


class Watched:
    """The real database, and what was executed on it."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.executed: list[tuple[str, Any]] = []

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        self.executed.append((sql, parameters))
        return self.db.execute(sql, parameters)


@pytest.fixture(scope="module")
def db() -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(":memory:")
    made.execute(TABLE)
    made.executemany(INSERT, catalog.shop(ROOT / "data" / "products.json")["products"])
    yield made
    made.close()


def legal(call: Any, count: Any) -> bool:
    """The contract, written another way than the gate: by exact types and a comparison of texts."""
    if type(count) is not int or count not in (0, 1, 2) or type(call) is not dict:
        return False
    if not all(type(key) is str for key in call) or sorted(call) != ["arguments", "outil"]:
        return False
    outil, arguments = call["outil"], call["arguments"]
    if type(outil) is not str or outil not in ("rechercher_produit", "consulter_stock") or type(arguments) is not dict:
        return False
    if [key if type(key) is str else None for key in arguments] != ["ref"]:
        return False
    ref = arguments["ref"]
    return type(ref) is str and len(ref) == 7 and ref[:4] == "REF-" and all(c in "0123456789" for c in ref[4:])


def check(call: Any, count: Any, db: sqlite3.Connection) -> bool:
    """Put one call through the gate and check the outcome; whether it was let through."""
    if legal(call, count):
        watched = Watched(db)
        seen = toolcall(watched, call, count)  # type: ignore[arg-type]
        assert watched.executed == [(READ, (call["arguments"]["ref"],))]
        assert seen == {"found": False} or (list(seen) == ["ref", "name", "stock"] and type(seen.get("stock")) is int)
        return True
    with pytest.raises(ValueError) as refusal:
        toolcall(NoSql(), call, count)  # type: ignore[arg-type]
    assert type(refusal.value) is ValueError and str(refusal.value) in REFUSALS
    return False


@given(CALLS, COUNTS)
def test_any_python_value_is_read_or_refused(db: sqlite3.Connection, call: Any, count: Any) -> None:
    tally.count("properties", "toolcall: let through" if check(call, count, db) else "toolcall: refused")


@given(ANY)
def test_any_value_in_each_place_is_read_or_refused(db: sqlite3.Connection, value: Any) -> None:
    good = {"outil": "consulter_stock", "arguments": {"ref": "REF-001"}}
    for call, count in (
        (value, 0),
        ({**good, "outil": value}, 0),
        ({**good, "arguments": value}, 0),
        ({**good, "arguments": {"ref": value}}, 0),
        (good, value),
    ):
        check(call, count, db)
    tally.count("properties", "toolcall: one value in five places", 5)


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_objects_that_lie_are_refused(place: int, db: sqlite3.Connection) -> None:
    value = HOSTILE[place]
    good = {"outil": "consulter_stock", "arguments": {"ref": "REF-001"}}
    for call, count in (
        (value, 0),
        ({**good, "outil": value}, 0),
        ({**good, "arguments": {"ref": value}}, 0),
        (good, value),
    ):
        assert check(call, count, db) is False
    try:
        crowded: dict[Any, object] = {value: 1, **good}
    except (TypeError, RuntimeError):  # not hashable
        return
    assert check(crowded, 0, db) is False


@given(PROPOSALS)
@tries(2500)
def test_any_text_is_decoded_to_json_or_refused(db: sqlite3.Connection, text: str) -> None:
    try:
        call = decode(text)
    except ValueError as exc:
        assert type(exc) is ValueError and str(exc).isprintable() and len(str(exc)) < 2000
        tally.count("properties", "decode: refused")
        return
    assert json.dumps(json.loads(text)) == json.dumps(call), "not what the text says"
    check(call, 0, db)
    tally.count("properties", "decode: a JSON value")


@given(JSON)
def test_json_loses_nothing_in_decoding(value: Any) -> None:
    text = json.dumps(value)
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        with pytest.raises(ValueError, match="not JSON"):
            decode(text)
    else:
        assert decode(text) == json.loads(text)
    tally.count("properties", "decode: whole JSON")


@given(PROPOSALS)
@tries(1000)
def test_a_question_ends_in_an_observation_or_an_error_and_nothing_else(db: sqlite3.Connection, text: str) -> None:
    """`run` with a model that proposes this text; the second generation must not start after a refusal."""
    asked = []

    def generate(prompt: str, schema: Any = None, *, system: str) -> Generation:
        asked.append(schema is not None)
        return {"raw": text, "finish_reason": "stop", "seconds": 0.0}

    original, agent.generate = agent.generate, generate
    try:
        result = agent.run(db, {"id": 1, "query": "?"})
    finally:
        agent.generate = original
    assert set(result) == {"id", "query", "proposal", "trace", "answer", "error", "seconds"}
    if result["error"] is None:
        assert asked == [True, False] and result["trace"][0]["call"]["outil"] in TOOLS
    else:
        assert asked == [True] and result["trace"] == [] and result["answer"] is None
    tally.count("properties", "run")


@given(JSON)
def test_any_body_is_a_completion_or_a_bad_reply(value: Any) -> None:
    for body in (
        json.dumps(value),
        json.dumps({"choices": value}),
        json.dumps({"choices": [value]}),
        json.dumps({"choices": [{"finish_reason": "stop", "message": value}]}),
        json.dumps(
            {"choices": [{"finish_reason": value, "message": {"content": "x"}}], "timings": value, "model": value}
        ),
    ):
        try:
            read = read_reply(body.encode("utf-8", "surrogatepass"))
        except BadReply as exc:
            assert str(exc).isprintable() and len(str(exc)) < 2000
            tally.count("properties", "read_reply: refused")
        else:
            assert type(read["raw"]) is str and set(read) <= {"raw", "finish_reason", "model", "build", "timings"}
            tally.count("properties", "read_reply: taken")


@given(PROPOSALS)
def test_any_bytes_are_a_completion_or_a_bad_reply(text: str) -> None:
    for body in (text.encode("utf-8", "surrogatepass"), text.encode("utf-16", "surrogatepass")):
        with pytest.raises(BadReply):
            read_reply(body)
    tally.count("properties", "read_reply: refused", 2)


@given(PROPOSALS)
def test_an_excerpt_is_one_printable_line(text: str) -> None:
    assert excerpt(text).isprintable() and excerpt(excerpt(text, 10), 100) == excerpt(text, 10)
    tally.count("properties", "excerpt")


@pytest.mark.parametrize("reason", ["length", "tool_calls", "", None, "STOP", "stop ", True, 0])
def test_a_cut_proposal_is_not_decoded(reason: Any, db: sqlite3.Connection) -> None:
    text = '{"outil":"consulter_stock","arguments":{"ref":"REF-001"}}'
    cut: Generation = {"raw": text, "finish_reason": reason, "seconds": 0.0}
    original, agent.generate = agent.generate, lambda *_args, **_more: cut
    try:
        result = agent.run(NoSql(), {"query": "?"})  # type: ignore[arg-type]
    finally:
        agent.generate = original
    assert (result["error"], result["trace"], result["answer"]) == ("Proposition tronquée", [], None)


@given(st.sampled_from(["outil", "arguments", "ref"]), JSON, JSON)
@tries(300)
def test_repeated_keys_are_refused_at_any_depth(key: str, first: Any, second: Any) -> None:
    pair = f'"{key}": {json.dumps(first)}, "{key}": {json.dumps(second)}'
    for text in (f"{{{pair}}}", f'{{"outil": "consulter_stock", "arguments": {{{pair}}}}}', f"[[{{{pair}}}]]"):
        with pytest.raises(ValueError, match="not JSON"):
            decode(text)
    tally.count("properties", "decode: repeated keys", 3)
