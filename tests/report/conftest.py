"""Runs for the report's tests: one right, one with every kind of fault, one with 1,000 questions; no model behind them.

The browser tests skip with their reason where Chromium is missing, and fail there when CI is set.
"""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from src import evaluate
from src.cli import cases
from src.commands import negatives, prepare
from src.runs import catalog, session
from src.runs.outputs import Outputs
from tests.report import browser
from tests.support.instant_server import InstantServer, honest, reply

# What the model says about a reference instead of the truth: to the first and to the second request.
MARKUP = '</p></details><script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'"><b>37</b>'
PROPOSALS = {
    "REF-012": reply('{"outil": "consulter_stock", "arg', "length"),
    "REF-003": '{"outil": "delete", "arguments": {"ref": "REF-003"}}',
    "REF-017": '{"outil": "consulter_stock", "arguments": {"ref": "REF-17"}}',
    "REF-025": "Sure! <script>alert(1)</script> the stock is fine.",
    "REF-031": {"choices": []},
    "REF-059": '{"outil": "consulter_stock", "arguments": {"ref": "REF-010"}}',  # another product, a right call
}
ANSWERS = {
    "REF-000": "REF-000 est introuvable.",
    "REF-007": "There are 90 units.",
    "REF-044": "3 of 10 left",
    "REF-001": MARKUP,
    "REF-999": "The stock of REF-999 is 12.",
    "REF-058": reply("21 " + "and so on " * 40, "length"),
    "REF-020": "Out of stock: 115",
    "REF-036": {"choices": [{"finish_reason": "stop", "message": {"content": None}}]},
    "REF-042": "0 \u202eevil\x1b[31m" + "long" * 700,
    "REF-015": "1055 units",
}


def faulty(body: dict[str, Any]) -> Any:
    """Answer with a fault where one is listed for the reference, and right elsewhere."""
    listed = PROPOSALS if "response_format" in body else ANSWERS
    asked = body["messages"][-1]["content"]
    return next((said for ref, said in listed.items() if ref in asked), None) or honest(body)


def make_run(outputs: Outputs, script: Any, data: Path = catalog.DATA, guarded: bool = False) -> Outputs:
    """Make a run with its evaluation and refusals in a folder, against a server that follows `script`."""
    with InstantServer(script) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLM_BASE_URL", server.url)
        prepare.prepare(outputs, data)
        run = session.begin(outputs, data, "en", lambda _: None, guarded=guarded)
        session.work(run, lambda _: None)
    negatives.negatives(outputs, cases)
    evaluate.evaluate_run(outputs, data)
    return outputs


@pytest.fixture(scope="session")
def right(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    """A run in which everything is right."""
    return make_run(Outputs(tmp_path_factory.mktemp("right")), honest)


@pytest.fixture(scope="session")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    """A guarded run with every kind of fault in it."""
    return make_run(Outputs(tmp_path_factory.mktemp("broken")), faulty, guarded=True)


def mistaken(body: dict[str, Any]) -> Any:
    """Propose REF-007 when asked about REF-012; everything else right."""
    said = honest(body)
    return said.replace("REF-012", "REF-007") if "response_format" in body else said


@pytest.fixture(scope="session")
def other(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    """A run without guard in which one product was read instead of another, and its sentence fits what was read."""
    return make_run(Outputs(tmp_path_factory.mktemp("other")), mistaken)


@pytest.fixture(scope="session")
def thousand(tmp_path_factory: pytest.TempPathFactory, broken: Outputs) -> Outputs:
    """A run of 1,000 questions with long answers, made from the faulty one."""
    outputs = Outputs(tmp_path_factory.mktemp("thousand"))
    shop = catalog.shop()
    texts = {query["id"]: query for query in shop["queries"]}
    run = json.loads(broken.json("agent").read_text(encoding="utf-8"))
    pick = random.Random(7)
    results, queries = [], []
    for number in range(1000):
        result = json.loads(json.dumps(pick.choice(run["results"])))
        if result["answer"]:
            result["answer"]["raw"] += " — a sentence of a usual length, of which there are many." * 8
        queries.append({**texts[result["id"]], "id": number})
        results.append({**result, "id": number, "seconds": pick.uniform(0.5, 4.0)})
    data = outputs.folder / "products.json"
    data.write_text(json.dumps({**shop, "queries": queries}), encoding="utf-8")
    run["provenance"]["data"] = catalog.origin(data)
    outputs.json("agent").write_text(json.dumps({**run, "results": results}), encoding="utf-8")
    evaluate.evaluate_run(outputs, data)
    return outputs


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The browser; where there is none the test is skipped with the reason, and fails in CI."""
    if reason := browser.lacking():
        if os.environ.get("CI"):
            pytest.fail(f"{reason}; the browser tests must run in CI")
        pytest.skip(reason)
    with browser.chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started
