"""The tutorial's listings, run as they stand beside our functions: the same on its paths, different where we say so.

docs/ARCHITECTURE.md has the table of the differences. Run: R3_SEEDS=FOLDER python -m pytest tests/tutorial
"""

import copy
import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from src import agent, tools
from src.runs import catalog
from tests.tutorial.conftest import Text

QUERY = {"id": 0, "ref": "REF-000", "query": "What is the stock level for REF-000?"}
GOOD = {"outil": "consulter_stock", "arguments": {"ref": "REF-000"}}
CALLS = [
    GOOD,
    {"outil": "rechercher_produit", "arguments": {"ref": "REF-059"}},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-999"}},
    {"outil": "delete", "arguments": {"ref": "REF-000"}},
    {"outil": "modifier_stock", "arguments": {"ref": "REF-000"}},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-12"}},
    {"outil": "consulter_stock", "arguments": {"ref": "ref-000"}},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-000; DROP TABLE products"}},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-000\n"}},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-٠٠٠"}},
    {"outil": "consulter_stock", "arguments": {"ref": 0}},
    {"outil": "consulter_stock", "arguments": {"ref": None}},
    {"outil": "consulter_stock", "arguments": ["REF-000"]},
    {"outil": "consulter_stock", "arguments": {}},
    {"outil": "consulter_stock", "arguments": {"ref": "REF-000", "stock": 5}},
    {"outil": "consulter_stock"},
    {**GOOD, "admin": True},
    {**GOOD, "outil": None},
    {},
    [],
    "consulter_stock",
    None,
]
COUNTS = [0, 1, 2, 3, -1, True, False, 1.0, "0", None]


@pytest.fixture
def listing(text: Text) -> dict[str, Any]:
    """The three functions of the text, with what they import and the names that the project has."""
    names: dict[str, Any] = {"re": re, "sqlite3": sqlite3, "time": time, "json": json, "Path": Path}
    names |= {"TOOLS": tools.TOOLS, "SCHEMA": agent.SCHEMA}
    for name in ("toolcall", "readonly", "run"):
        exec(compile(text.function(name), f"{text.language}:{name}", "exec"), names)
    return names


@pytest.fixture
def path(tmp_path: Path) -> Path:
    tools.create(tmp_path / "stock.db", catalog.shop()["products"])
    return tmp_path / "stock.db"


@pytest.fixture
def db(path: Path) -> Iterator[sqlite3.Connection]:
    connection = tools.readonly(path)
    yield connection
    connection.close()


def outcome(function: Callable[..., Any], *args: Any) -> tuple[str, Any]:
    """What it returned, or the kind of its exception and the message."""
    try:
        return "returned", function(*args)
    except Exception as exc:  # noqa: BLE001 (whatever either raises is compared)
        return type(exc).__name__, str(exc)


def test_toolcall_decides_and_reads_as_the_listing_does(listing: dict[str, Any], db: sqlite3.Connection) -> None:
    for call in CALLS:
        assert outcome(tools.toolcall, db, call) == outcome(listing["toolcall"], db, call), call
    for count in COUNTS:
        assert outcome(tools.toolcall, db, GOOD, count) == outcome(listing["toolcall"], db, GOOD, count), count


class Disguised(str):
    """Claims to be on the list, whatever it says."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


def test_toolcall_differs_where_the_page_says_so(listing: dict[str, Any], db: sqlite3.Connection) -> None:
    disguised = {**GOOD, "outil": Disguised("delete")}
    assert outcome(listing["toolcall"], db, disguised)[0] == "returned"
    assert outcome(tools.toolcall, db, disguised) == ("ValueError", "Outil interdit ou appel mal formé")
    listing["TOOLS"] = set(tools.TOOLS)
    assert outcome(listing["toolcall"], db, {**GOOD, "outil": ["x"]})[0] == "TypeError"
    assert outcome(tools.toolcall, db, {**GOOD, "outil": ["x"]}) == ("ValueError", "Outil interdit ou appel mal formé")


def test_readonly_refuses_what_the_listing_refuses_and_other_files_too(listing: dict[str, Any], path: Path) -> None:
    there, here = listing["readonly"](path), tools.readonly(path)
    for connection in (there, here):
        assert connection.execute("SELECT count(*) FROM products").fetchone() == (60,)
        assert outcome(connection.execute, "UPDATE products SET stock=1")[1] == "attempt to write a readonly database"
    other = f"ATTACH '{path.parent / 'other.db'}' AS other"
    for statement in (other, "CREATE TEMP TABLE t(x)"):
        assert outcome(there.execute, statement)[0] == "returned", statement
        assert outcome(here.execute, statement)[0] == "OperationalError", statement
    there.close()
    here.close()
    missing = path.with_name("missing.db")
    assert outcome(listing["readonly"], missing) == outcome(tools.readonly, missing)
    assert not missing.exists()


Reply = dict[str, Any] | Exception


def both(
    listing: dict[str, Any], db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, *replies: Reply
) -> list[tuple[tuple[str, Any], list[Any]]]:
    """Run the listing and ours on the same replies; returns for each its outcome and what it asked of the model."""
    made = []
    for where in ("listing", "ours"):
        asked: list[Any] = []
        queue = copy.deepcopy(list(replies))

        def generate(
            prompt: str, schema: Any = None, *, system: str, asked: list[Any] = asked, queue: list[Any] = queue
        ) -> Any:
            asked.append((prompt, schema, system))
            reply = queue.pop(0)
            if isinstance(reply, Exception):
                raise reply
            return reply

        if where == "listing":
            listing["generate"] = generate
        monkeypatch.setattr(agent, "generate", generate)
        result = outcome(listing["run"] if where == "listing" else agent.run, db, dict(QUERY))
        if isinstance(result[1], dict):
            assert result[1].pop("seconds") >= 0
        made.append((result, asked))
    return made


def said(raw: str, finish_reason: str = "stop") -> dict[str, Any]:
    return {"raw": raw, "finish_reason": finish_reason}


@pytest.mark.parametrize(
    "replies",
    [
        (said(json.dumps(GOOD)), said("Le stock est 0.")),
        (said(json.dumps({**GOOD, "arguments": {"ref": "REF-999"}})), said("introuvable")),
        (said(json.dumps(GOOD)), said("Le stock", "length")),
        (said(json.dumps(GOOD), "length"),),
        (said(json.dumps({**GOOD, "outil": "delete"})),),
        (said(json.dumps({**GOOD, "arguments": {"ref": "REF-12"}})),),
        (said("[]"),),
        (said(json.dumps(GOOD)), ValueError("no wording")),
    ],
    ids=["found", "not found", "answer cut", "proposal cut", "forbidden", "reference", "a list", "second fails"],
)
def test_run_asks_and_returns_what_the_listing_does(
    replies: tuple[Reply, ...], listing: dict[str, Any], db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, here = both(listing, db, monkeypatch, *replies)
    assert here == there
    assert len(here[1]) == len(replies) and here[0][0] == "returned"


@pytest.mark.parametrize(
    ("replies", "there", "here"),
    [
        ((ConnectionError("gone"),), ("ConnectionError", "gone"), "gone"),
        ((said(json.dumps(GOOD)), ConnectionError("gone")), ("ConnectionError", "gone"), "gone"),
        ((said(json.dumps(GOOD)), KeyError()), "", "KeyError"),
        ((said("no JSON"),), "Expecting value", "not JSON: Expecting value"),
        ((said(""),), "Expecting value", "empty answer"),
        (
            (said('{"outil": "delete", "outil": "consulter_stock", "arguments": {"ref": "REF-000"}}'), said("0")),
            None,
            "not JSON: an object repeats a key",
        ),
        ((said("NaN"),), "Outil interdit", "not JSON: NaN"),
    ],
    ids=["first generation", "second generation", "empty message", "no JSON", "empty", "two equal keys", "NaN"],
)
def test_run_differs_where_the_page_says_so(
    replies: tuple[Reply, ...],
    there: Any,
    here: str,
    listing: dict[str, Any],
    db: sqlite3.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed, ours = (result for result, _ in both(listing, db, monkeypatch, *replies))
    if isinstance(there, tuple):
        assert listed == there
    else:
        error = listed[1]["error"]
        assert error is None if there is None else error == "" if there == "" else error.startswith(there)
    assert ours[0] == "returned" and ours[1]["error"].startswith(here)
