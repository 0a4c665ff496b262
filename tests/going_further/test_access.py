"""Attacks on who may see what: no row without the right, no answer that tells a hidden row from a missing one.

Run: python -m pytest tests/going_further
"""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from src.base.errors import Precondition
from src.base.records import Product
from src.going_further import low_stock
from src.going_further.access import ALLOWED, MALFORMED, NOT_ALLOWED, NOT_FOUND, Decision, decide
from src.going_further.callers import ALL_TOOLS, NOBODY, Caller, load, named
from src.going_further.decisions import DecisionLog
from src.going_further.flow import answer_call
from src.tools import READ, TOOLS, create, digest, readonly

PRODUCTS: list[Product] = [{"ref": f"REF-{n:03d}", "name": f"Produit {n}", "stock": n % 7} for n in range(60)]
EVERY = frozenset(product["ref"] for product in PRODUCTS)
TEN = frozenset(f"REF-{n:03d}" for n in range(10))
NORTH = Caller("north", frozenset(ALL_TOOLS), TEN)
OFFICE = Caller("office", frozenset(ALL_TOOLS), EVERY | {"REF-999"})
LIMITED = [
    NOBODY,
    NORTH,
    Caller("no tools", frozenset(), EVERY),
    Caller("no references", frozenset(ALL_TOOLS), frozenset()),
    *(Caller(f"only {tool}", frozenset({tool}), TEN) for tool in ALL_TOOLS),
]


def read_call(tool: str, ref: Any) -> dict[str, Any]:
    return {"outil": tool, "arguments": {"ref": ref}}


def low_call(most: Any) -> dict[str, Any]:
    return {"outil": low_stock.TOOL, "arguments": {"seuil": most}}


WELL_FORMED = [
    *(read_call(tool, ref) for tool in TOOLS for ref in ("REF-000", "REF-009", "REF-010", "REF-059", "REF-999")),
    *(low_call(most) for most in (0, 3, 20)),
]


class Text(str):
    """Claims to be whatever it is compared with."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return str.__hash__(self)


MALFORMED_CALLS: list[Any] = [
    None,
    [],
    "consulter_stock",
    {},
    read_call("delete", "REF-000"),
    read_call("consulter_stock", "REF-12"),
    read_call("consulter_stock", "REF-000\n"),
    read_call("consulter_stock", "REF-059' OR '1'='1"),
    read_call("consulter_stock", ["REF-000", "REF-059"]),
    read_call("consulter_stock", Text("REF-059")),
    read_call(Text("consulter_stock"), "REF-000"),
    read_call(["lister_stock_bas"], "REF-000"),  # type: ignore[arg-type]
    read_call(low_stock.TOOL, "REF-000"),
    {**read_call("consulter_stock", "REF-000"), "caller": "office"},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-000", "caller": "office"}},
    {Text("outil"): low_stock.TOOL, "arguments": {"seuil": 1}},
    {"outil": Text(low_stock.TOOL), "arguments": {"seuil": 1}},
    {"outil": low_stock.TOOL, "arguments": {Text("seuil"): 1}},
    {"outil": low_stock.TOOL},
    {**low_call(3), "admin": True},
    {"outil": low_stock.TOOL, "arguments": {"seuil": 3, "ref": "REF-059"}},
    *(low_call(most) for most in (-1, 21, True, 5.0, "5", None, 10**30, [3])),
]


class Untouched:
    """A database that fails on any use."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"SQL was reached: {name}")


NO_SQL: Any = Untouched()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    create(tmp_path / "stock.db", PRODUCTS)
    return tmp_path / "stock.db"


@pytest.fixture
def db(path: Path) -> Iterator[sqlite3.Connection]:
    before = digest(path)
    connection = readonly(path)
    yield connection
    connection.close()
    assert digest(path) == before


def refs_in(observation: Any) -> set[str]:
    return {row["ref"] for row in observation.get("products", [observation]) if "ref" in row}


@pytest.mark.parametrize("caller", LIMITED, ids=lambda caller: caller.name)
def test_no_call_shows_a_row_to_a_caller_without_the_right(caller: Caller, db: sqlite3.Connection) -> None:
    for call in [*WELL_FORMED, *(read_call(tool, ref) for tool in TOOLS for ref in sorted(EVERY))]:
        made = decide(db, call, caller)
        allowed = caller.references if call["outil"] in caller.tools else frozenset()
        assert made.observation is not None and refs_in(made.observation) <= allowed, (call, made)


@pytest.mark.parametrize("call", WELL_FORMED, ids=json.dumps)
def test_a_refusal_for_want_of_a_right_reaches_no_sql(call: dict[str, Any]) -> None:
    for caller in LIMITED:
        ref = call["arguments"].get("ref")
        if call["outil"] not in caller.tools or (ref is not None and ref not in caller.references):
            assert decide(NO_SQL, call, caller).decision == NOT_ALLOWED


@pytest.mark.parametrize("tool", TOOLS)
def test_a_hidden_row_is_answered_like_a_missing_one(tool: str, db: sqlite3.Connection) -> None:
    missing = decide(db, read_call(tool, "REF-999"), OFFICE)
    for caller in LIMITED:
        hidden = decide(db, read_call(tool, "REF-059"), caller)
        assert (hidden.decision, missing.decision) == (NOT_ALLOWED, NOT_FOUND)
        assert json.dumps(hidden.observation) == json.dumps(missing.observation) == '{"found": false}'


def test_the_list_of_a_caller_without_rows_is_the_one_of_an_empty_shop(db: sqlite3.Connection) -> None:
    nothing = decide(db, low_call(0), Caller("sold nothing out", frozenset(ALL_TOOLS), frozenset({"REF-001"})))
    refused = decide(db, low_call(0), NOBODY)
    assert (nothing.decision, refused.decision) == (NOT_FOUND, NOT_ALLOWED)
    assert json.dumps(nothing.observation) == json.dumps(refused.observation)


def test_the_default_caller_may_do_nothing() -> None:
    assert NOBODY == Caller() == named(None)
    for call in WELL_FORMED:
        assert decide(NO_SQL, call).decision == NOT_ALLOWED


@pytest.mark.parametrize("call", MALFORMED_CALLS, ids=repr)
def test_a_malformed_call_is_malformed_for_everybody_and_reaches_no_sql(call: Any) -> None:
    for caller in (NOBODY, NORTH, OFFICE):
        made = decide(NO_SQL, call, caller)
        assert (made.decision, made.observation) == (MALFORMED, None), made


def test_what_is_allowed_is_read_and_by_these_statements_only(db: sqlite3.Connection) -> None:
    seen: list[str] = []
    db.set_trace_callback(seen.append)
    made = decide(db, read_call("consulter_stock", "REF-003"), NORTH)
    assert made == Decision(ALLOWED, "rows: 1", {"ref": "REF-003", "name": "Produit 3", "stock": 3})
    listed = decide(db, low_call(0), NORTH).observation
    assert listed == {"products": [PRODUCTS[0], PRODUCTS[7]]}
    assert len(seen) == 2 and seen[0] == READ.replace("?", "'REF-003'")
    many = decide(db, low_call(20), OFFICE).observation
    assert many is not None and "products" in many and len(many["products"]) == low_stock.MAX_ROWS


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_log_keeps_the_four_decisions_apart_and_no_text_of_a_malformed_call(
    db: sqlite3.Connection, tmp_path: Path
) -> None:
    log = DecisionLog(tmp_path / "new" / "decisions.jsonl")
    sentence = "My name is Ada and I live in"
    calls = [
        (read_call(TOOLS[1], "REF-003"), NORTH),
        (read_call(TOOLS[1], "REF-999"), OFFICE),
        (read_call(TOOLS[1], "REF-059"), NORTH),
        (read_call(TOOLS[1], sentence), NORTH),
        ({"outil": sentence, "arguments": {}}, NOBODY),
    ]
    for call, caller in calls:
        log.add(caller, call, decide(db, call, caller))
    made = lines(log.path)
    assert [entry["decision"] for entry in made] == [ALLOWED, NOT_FOUND, NOT_ALLOWED, MALFORMED, MALFORMED]
    assert all(set(entry) == {"time", "caller", "call", "decision", "reason"} for entry in made)
    assert [entry["call"] for entry in made] == [*(call for call, _ in calls[:3]), None, None]
    assert sentence not in log.path.read_text() and "Ada" not in log.path.read_text()
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_a_read_that_fails_is_in_the_log_too(path: Path, tmp_path: Path) -> None:
    closed, log = readonly(path), DecisionLog(tmp_path / "decisions.jsonl")
    closed.close()
    for call in (read_call(TOOLS[1], "REF-003"), low_call(3)):
        with pytest.raises(sqlite3.Error):
            answer_call(closed, call, NORTH, log)
    assert answer_call(closed, low_call(3), NOBODY, log).decision == NOT_ALLOWED
    assert [(entry["decision"], entry["reason"]) for entry in lines(log.path)] == [
        (ALLOWED, "the read failed"),
        (ALLOWED, "the read failed"),
        (NOT_ALLOWED, "tool not given to this caller"),
    ]


def test_the_log_is_only_added_to_and_a_torn_line_costs_no_other(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "decisions.jsonl")
    made = Decision(NOT_ALLOWED, "tool", {"found": False})
    for _ in range(2):
        before = log.path.read_bytes() if log.path.exists() else b""
        log.add(NOBODY, None, made)
        assert log.path.read_bytes().startswith(before) and log.path.read_bytes() != before
    with log.path.open("ab") as file:
        file.write(b'{"time": "2026-')
    log.add(NORTH, None, made)
    whole, damaged = log.read()
    assert ([entry["caller"] for entry in whole], damaged) == (["nobody", "nobody", "north"], 1)


def test_a_log_that_cannot_be_written_stops_the_answer(tmp_path: Path) -> None:
    made = Decision(ALLOWED, "rows: 1", PRODUCTS[0])
    (tmp_path / "elsewhere").write_text("mine")
    (tmp_path / "decisions.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Precondition, match="without a record nothing is answered"):
        DecisionLog(tmp_path / "decisions.jsonl").add(NOBODY, None, made)
    assert (tmp_path / "elsewhere").read_text() == "mine"


def test_the_callers_of_the_file_have_the_rights_it_says() -> None:
    north = named("shop-north")
    assert north.tools == frozenset(ALL_TOOLS) and north.references == TEN
    assert named("partner").tools == set(TOOLS) and set(load()) == {"shop-north", "partner", "head-office"}
    with pytest.raises(Precondition, match="no caller 'Partner'"):
        named("Partner")


RIGHT = {"tools": ["consulter_stock"], "first": "REF-000", "last": "REF-001"}


@pytest.mark.parametrize(
    "change",
    [
        {"tools": "consulter_stock"},
        {"tools": ["delete"]},
        {"tools": [[]]},
        {"first": "REF-0"},
        {"last": "REF-001\n"},
        {"first": 0},
        {"first": "REF-002"},
        {"everything": True},
    ],
    ids=str,
)
def test_a_file_with_a_right_that_cannot_be_given_is_refused_as_a_whole(change: Any, tmp_path: Path) -> None:
    file = tmp_path / "callers.json"
    file.write_text(json.dumps({"callers": {"good": RIGHT, "bad": {**RIGHT, **change}}}))
    with pytest.raises(Precondition, match="does not hold callers"):
        named("good", file)


def test_nothing_in_the_assistant_imports_this_package() -> None:
    source = Path(__file__).parents[2] / "src"
    others = [path for path in source.rglob("*.py") if "going_further" not in path.parts]
    assert len(others) > 50
    assert not [path for path in others if "going_further" in path.read_text(encoding="utf-8")]
