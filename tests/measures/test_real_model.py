"""Guarded wording and questions in flight on the real model: four questions, one at a time and two at a time.

Run alone: python -m pytest tests/measures/test_real_model.py (about a minute on two free cores)
"""

import json
from pathlib import Path
from typing import Any

import pytest

from src import evaluate
from src.cli import main
from src.runs import catalog
from src.runs.outputs import Outputs

ASKED = ("REF-000", "REF-007", "REF-044", "REF-999")  # out of stock, two in stock, unknown
LIMIT_S = 1500  # on cores that others use as well
pytestmark = [pytest.mark.model, pytest.mark.timeout(LIMIT_S)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shop with one question about each of `ASKED`."""
    shop = catalog.shop()
    firsts = [next(query for query in shop["queries"] if query["ref"] == ref) for ref in ASKED]
    path = tmp_path_factory.mktemp("data") / "four.json"
    path.write_text(json.dumps({**shop, "queries": firsts}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, data: Path) -> dict[str, Outputs]:
    """A guarded run in French one at a time, and one two at a time on two slots."""
    made = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "R3_THREADS", "1"
        )  # other suites use the other cores; a thread that loses its core stalls the rest
        for jobs in ("1", "2"):
            outputs = Outputs(tmp_path_factory.mktemp(f"jobs-{jobs}"))
            common = ["--outputs", str(outputs.folder), "--embedded"]
            assert main([*common, "prepare", "--data", str(data)]) == 0
            agent = ["agent", "--data", str(data), "--lang", "fr", "--guard-answers", "--jobs", jobs]
            assert main([*common, *agent]) == 0
            made[jobs] = outputs
    return made


def run_of(outputs: Outputs) -> dict[str, Any]:
    return dict(json.loads(outputs.json("agent").read_text(encoding="utf-8")))


def test_two_in_flight_look_up_and_read_what_one_at_a_time_does(runs: dict[str, Outputs]) -> None:
    one, two = run_of(runs["1"]), run_of(runs["2"])
    assert (one["provenance"]["server"]["slots"], two["provenance"]["server"]["slots"]) == (1, 2)
    assert [result["id"] for result in one["results"]] == [result["id"] for result in two["results"]]
    for alone, beside in zip(one["results"], two["results"], strict=True):
        # Where both tools are about as likely, a batch can decide which name is written (docs/MEASURES.md).
        assert (
            alone["trace"][0]["call"]["arguments"] == beside["trace"][0]["call"]["arguments"] == {"ref": alone["ref"]}
        )
        assert alone["trace"][0]["observation"] == beside["trace"][0]["observation"]
        assert alone["error"] is None and beside["error"] is None


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_every_delivered_sentence_is_right_whatever_the_model_wrote(
    runs: dict[str, Outputs], data: Path, jobs: str
) -> None:
    _, evaluation = evaluate.evaluate_run(runs[jobs], data)
    delivered = evaluation["beyond"]["delivered"]
    assert delivered is not None
    assert (delivered["texts"], delivered["marker_present"], delivered["whole_number_present"]) == (4, 1.0, 1.0)
    assert all(fault["count"] == 0 for fault in delivered["faults"].values())


def test_the_server_tells_its_share_of_the_time_and_uses_no_cache(runs: dict[str, Outputs], data: Path) -> None:
    _, evaluation = evaluate.evaluate_run(runs["1"], data)
    time = evaluation["beyond"]["time"]
    assert time["split_queries"] == 4
    assert time["tokens_from_cache"] == 0
    split = time["split_mean_ms"]
    assert split is not None
    assert split["server_prompt"] + split["server_generation"] > split["tool_and_checks"]


def test_what_the_server_reports_is_in_the_record(runs: dict[str, Outputs]) -> None:
    provenance = run_of(runs["1"])["provenance"]
    server = provenance["server"]
    assert (server["model"], server["quantisation"], server["device"]) == ("SmolLM2-135M-Instruct Q4_1", "Q4_1", "cpu")
    assert server["build"].startswith("xllamacpp-")
    assert len(server["files"][0]["sha256"]) == len(server["chat_template_sha256"]) == 64
    assert (server["context_tokens"], server["parameters"]) == (2048, 134515008)
    assert provenance["generation"]["temperature"] == 0
    assert (provenance["language"], provenance["guard_answers"], provenance["jobs"]) == ("fr", True, 1)
    assert provenance["tokens_from_cache"] == 0
