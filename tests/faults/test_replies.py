"""Every broken reply, through the command line: `ask` alone, and `agent` between questions that go well.

Run alone with: python -m pytest tests/faults
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.faults.rows import ACCEPTED, ROWS, TIMEOUT_S, Row
from tests.support import tally
from tests.support.faulty_server import Request, Step, serving
from tests.support.project import ROOT, Done, Shop, failed, succeeded

PER_KIND = 3  # rows of each kind that `ask` tries in a process of its own; R3_EVERY_ROW=1 makes it all of them
ASKED = [
    row
    for kind in dict.fromkeys(row.kind for row in ROWS)
    for row in [row for row in ROWS if row.kind == kind][: None if os.environ.get("R3_EVERY_ROW") == "1" else PER_KIND]
]
BY_ID = {row.id: row for row in ROWS}
HEALTHY_REF = "REF-002"
RECORD = {"ref": "REF-002", "name": "Produit 2", "stock": 74}
QUICK = {"LLM_TIMEOUT_S": str(TIMEOUT_S)}
# Starting the interpreter is most of the work; the two cores share it.
WORKERS = max(2, os.cpu_count() or 2)


def row_of(request: Request) -> Row | None:
    """The row whose name stands in the question, e.g. `... [envelope/empty]`."""
    name = request.asked.partition("[")[2].partition("]")[0]
    return BY_ID.get(name)


def faulty(stage: str) -> Any:
    def plan(request: Request) -> Sequence[Step] | None:
        row = row_of(request)
        return row.steps if row is not None and request.stage == stage else None

    return plan


def data_file(folder: Path, rows: Sequence[Row]) -> Path:
    """A shop with a healthy question before, between and after the broken ones."""
    data = json.loads((ROOT / "data" / "products.json").read_text(encoding="utf-8"))
    texts = [f"{HEALTHY_REF}?"]
    for row in rows:
        texts += [f"REF-001? [{row.id}]", f"{HEALTHY_REF}?"]
    data["queries"] = [
        {"id": place, "ref": text[:7], **dict.fromkeys(("query", "es", "vi", "fr"), text)}
        for place, text in enumerate(texts)
    ]
    path = folder / "questions.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def session_shop(folder: Path, prepared: Path) -> Shop:
    outputs = folder / "outputs"
    outputs.mkdir()
    shutil.copy(prepared, outputs / "stock.db")
    return Shop(outputs, env=QUICK)


def all_asked(folder: Path, prepared: Path, stage: str, rows: Sequence[Row]) -> dict[str, tuple[Done, Any, int]]:
    """Ask one question per row, several at a time, each in a folder of its own; returns what came of each."""

    def one(place: int) -> tuple[Done, Any, int]:
        own = folder / str(place)
        own.mkdir()
        shop = session_shop(own, prepared)
        shop.url = server.url
        question = f"What is the stock level for REF-001? [{rows[place].id}]"
        done = shop.run("ask", question)
        asked = [request for request in server.requests if rows[place].id in request.asked]
        return done, shop.read("ask.json")["result"], sum(request.stage == "answer" for request in asked)

    with serving(faulty(stage)) as server, ThreadPoolExecutor(WORKERS) as pool:
        return dict(zip((row.id for row in rows), pool.map(one, range(len(rows))), strict=True))


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> dict[str, tuple[Done, Any, int]]:
    return all_asked(tmp_path_factory.mktemp("ask"), prepared, "proposal", ASKED)


def run_agent(folder: Path, prepared: Path, stage: str, rows: Sequence[Row]) -> Iterator[tuple[Done, Any]]:
    shop = session_shop(folder, prepared)
    before = shop.database.read_bytes()
    with serving(faulty(stage)) as server:
        shop.url = server.url
        done = shop.run("agent", "--data", str(data_file(folder, rows)))
    yield done, shop.read()
    assert shop.database.read_bytes() == before


@pytest.fixture(scope="module")
def proposals(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Iterator[tuple[Done, Any]]:
    """One run of `agent` in which the first generation fails in every way, between questions that go well."""
    yield from run_agent(tmp_path_factory.mktemp("proposals"), prepared, "proposal", ROWS)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Iterator[tuple[Done, Any]]:
    """The same for the second generation."""
    rows = [row for row in ROWS if row.both]
    yield from run_agent(tmp_path_factory.mktemp("answers"), prepared, "answer", rows)


def result_of(agent: Any, row: Row) -> Any:
    return next(result for result in agent["results"] if f"[{row.id}]" in result["query"])


@pytest.mark.parametrize("row", ASKED, ids=lambda row: row.id)
def test_ask_names_the_fault_in_one_line_and_reads_nothing(row: Row, asked: dict[str, tuple[Done, Any, int]]) -> None:
    done, result, wordings = asked[row.id]
    failed(done, row.status, row.says)
    assert result["trace"] == [] and result["answer"] is None
    assert wordings == 0, "the second generation was started"
    tally.count("faults", f"ask: {row.kind}")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_agent_notes_the_fault_and_reads_nothing(row: Row, proposals: tuple[Done, Any]) -> None:
    result = result_of(proposals[1], row)
    assert re.search(row.says, result["error"])
    assert (result["trace"], result["answer"]) == ([], None)
    tally.count("faults", f"agent, proposal: {row.kind}")


@pytest.mark.parametrize("row", [row for row in ROWS if row.both], ids=lambda row: row.id)
def test_agent_keeps_the_observation_when_the_sentence_fails(row: Row, answers: tuple[Done, Any]) -> None:
    result = result_of(answers[1], row)
    assert re.search(row.says, result["error"])
    assert result["answer"] is None and result["trace"][0]["observation"]["ref"] == "REF-001"
    tally.count("faults", f"agent, sentence: {row.kind}")


@pytest.mark.parametrize("stage", ["proposals", "answers"])
def test_the_questions_in_between_lose_nothing(stage: str, request: pytest.FixtureRequest) -> None:
    done, agent = request.getfixturevalue(stage)
    succeeded(done)
    healthy = [result for result in agent["results"] if result["query"] == f"{HEALTHY_REF}?"]
    assert len(healthy) == (len(agent["results"]) + 1) / 2 > 60
    for result in healthy:
        assert result["error"] is None
        assert [step["observation"] for step in result["trace"]] == [RECORD]
        assert result["answer"]["raw"] == "Stock: 74"
    assert agent["complete"] is True and agent["unchanged"] is True


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_whole_reply_in_an_odd_form_is_taken(name: str, shop: Shop) -> None:
    with serving(lambda request: ACCEPTED[name] if request.stage == "proposal" else None) as server:
        shop.url = server.url
        succeeded(shop.run("ask", "What is the stock level for REF-001?"))
    result = shop.read("ask.json")["result"]
    assert [step["observation"]["stock"] for step in result["trace"]] == [37]
    tally.count("faults", "ask: odd but whole")


def test_the_row_names_are_distinct() -> None:
    assert len(BY_ID) == len(ROWS) > 200
