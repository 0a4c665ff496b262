"""Every broken reply, through the command line: `ask` alone, and `agent` between questions that go well.

Run alone with: python -m pytest tests/faults
"""

import json
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.faults.rows import ACCEPTED, ROWS, TIMEOUT_S, Row
from tests.support import tally
from tests.support.depth import few
from tests.support.faulty_server import Request, Step, serving
from tests.support.project import ROOT, Shop, failed, succeeded

BY_ID = {row.id: row for row in ROWS}
HEALTHY_REF = "REF-002"
RECORD = {"ref": "REF-002", "name": "Produit 2", "stock": 74}
QUICK = {"LLM_TIMEOUT_S": str(TIMEOUT_S)}
PATIENT = {"LLM_TIMEOUT_S": "2"}  # what is not slow must not run into it on a machine that others use
SLOW = "too slow"  # the kind of the rows that wait for their time-out


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


LATE = [row for row in ROWS if row.kind == SLOW]
AT_ONCE = [row for row in ROWS if row.kind != SLOW]


def run_agent(folder: Path, prepared: Path, stage: str, rows: Sequence[Row]) -> Any:
    """What `agent` made of a generation that fails in every way, between questions that go well."""
    shop = Shop(folder / "outputs", env=QUICK if rows[0].kind == SLOW else PATIENT)
    shop.outputs.mkdir()
    shutil.copy(prepared, shop.database)
    with serving(faulty(stage)) as server:
        shop.url = server.url
        succeeded(shop.run("agent", "--data", str(data_file(shop.outputs, rows))))
    assert shop.database.read_bytes() == prepared.read_bytes()
    run = shop.read()
    assert run["complete"] is True and run["unchanged"] is True
    return run["results"]


@pytest.fixture(scope="module")
def proposals(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Any:
    """The first generation fails; one run about the rows that wait for their time-out, and one about all others."""
    late = run_agent(tmp_path_factory.mktemp("late"), prepared, "proposal", LATE)
    return late + run_agent(tmp_path_factory.mktemp("proposals"), prepared, "proposal", AT_ONCE)


@pytest.fixture(scope="module", params=few([AT_ONCE, LATE]), ids=["at once", "late"])
def answers(tmp_path_factory: pytest.TempPathFactory, prepared: Path, request: pytest.FixtureRequest) -> Any:
    """The second generation fails."""
    rows = [row for row in request.param if row.both]
    return run_agent(tmp_path_factory.mktemp("answers"), prepared, "answer", rows)


def result_of(results: Any, row: Row) -> Any:
    return next(result for result in results if f"[{row.id}]" in result["query"])


def wrong(results: Iterable[tuple[Row, bool]]) -> list[str]:
    """The rows that were not as they should be; all are looked at before one is complained about."""
    return [row.id for row, right in results if not right]


KINDS = [
    pytest.param(kind, marks=pytest.mark.slow if kind == SLOW else ())
    for kind in dict.fromkeys(row.kind for row in ROWS)
]


@pytest.mark.parametrize("kind", KINDS)
def test_ask_names_every_fault_of_the_kind_in_one_line_and_reads_nothing(kind: str, shop: Shop) -> None:
    shop.env = QUICK if kind == SLOW else PATIENT
    rows = [row for row in ROWS if row.kind == kind]
    with serving(faulty("proposal")) as server:
        shop.url = server.url
        for row in rows:
            failed(shop.run("ask", f"What is the stock level for REF-001? [{row.id}]"), row.status, row.says)
            result = shop.read("ask.json")["result"]
            assert (result["trace"], result["answer"]) == ([], None), row.id
        assert server.asked("answer") == [], "the second generation was started"
    tally.count("faults", f"ask: {kind}", len(rows))


def test_agent_notes_each_fault_and_reads_nothing(proposals: Any) -> None:
    def noted(row: Row) -> bool:
        result = result_of(proposals, row)
        nothing = (result["trace"], result["answer"]) == ([], None)
        return nothing and re.search(row.says, result["error"]) is not None

    assert wrong((row, noted(row)) for row in ROWS) == []
    tally.count("faults", "agent: a fault in the proposal", len(ROWS))


def test_agent_keeps_the_observation_when_the_sentence_fails(answers: Any) -> None:
    def kept(row: Row) -> bool:
        result = result_of(answers, row)
        observed = result["trace"][0]["observation"]["ref"] == "REF-001" and result["answer"] is None
        return observed and re.search(row.says, result["error"]) is not None

    rows = [row for row in ROWS if any(f"[{row.id}]" in result["query"] for result in answers)]
    assert rows and wrong((row, kept(row)) for row in rows) == []
    tally.count("faults", "agent: a fault in the sentence", len(rows))


def healthy(results: Any) -> None:
    """Check that every other question went well."""
    asked = [result for result in results if result["query"] == f"{HEALTHY_REF}?"]
    assert len(asked) >= (len(results) + 1) / 2 > 10
    for result in asked:
        assert result["error"] is None
        assert [step["observation"] for step in result["trace"]] == [RECORD]
        assert result["answer"]["raw"] == "Stock: 74"


def test_the_questions_between_broken_proposals_lose_nothing(proposals: Any) -> None:
    healthy(proposals)


def test_the_questions_between_broken_sentences_lose_nothing(answers: Any) -> None:
    healthy(answers)


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
