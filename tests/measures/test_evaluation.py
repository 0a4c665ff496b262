"""The second block of `evaluate`, its file, and the comparison of two runs.

Run alone: python -m pytest tests/measures/test_evaluation.py
"""

import json
from pathlib import Path
from typing import Any

import pytest

from src import evaluate
from src.cli import main
from src.commands import answers
from src.measures import beyond, compare
from src.measures.published import PUBLISHED
from src.runs import catalog
from src.runs.outputs import Outputs
from tests.measures.conftest import Make
from tests.support.depth import few
from tests.support.instant_server import honest, reply

WORDED = {
    "REF-000": "introuvable 0",
    "REF-007": "90",
    "REF-003": reply("111 and more", "length"),
    "REF-044": "3 of 44",
    "REF-001": {"choices": []},
    "REF-010": "120, and more arrive tomorrow",
    "REF-015": "Es sind noch 55 Stück auf Lager.",
    "REF-999": "REF-999: 999 units",
}


def scripted(body: dict[str, Any]) -> Any:
    asked = body["messages"][-1]["content"]
    said = next((said for ref, said in WORDED.items() if ref in asked), None)
    return honest(body) if said is None or "response_format" in body else said


def run_of(outputs: Outputs) -> Any:
    return json.loads(outputs.json("agent").read_text(encoding="utf-8"))


def ids_asking(run: dict[str, Any], *refs: str) -> list[int]:
    return [result["id"] for result in run["results"] if result["ref"] in refs]


def test_each_fault_is_counted_with_the_queries_concerned(make: Make) -> None:
    outputs = make(script=scripted)
    _, evaluation = evaluate.evaluate_run(outputs, catalog.DATA)
    run, model = run_of(outputs), evaluation["beyond"]["model"]
    found = {name: fault["ids"] for name, fault in model["faults"].items()}
    assert found == {
        "no_answer": ids_asking(run, "REF-001"),
        "cut": ids_asking(run, "REF-003"),
        "figure_missing": ids_asking(run, "REF-007", "REF-999"),
        "unsupported_number": ids_asking(run, "REF-007", "REF-044", "REF-999"),
        "zero_as_not_found": ids_asking(run, "REF-000"),
        "stock_as_not_found": [],
        "stock_as_none": [],
        "not_found_as_stock": ids_asking(run, "REF-999"),
        "not_listed": ids_asking(run, "REF-010"),
        "no_lists": ids_asking(run, "REF-015"),
    }
    faulty = {asked for ids in found.values() for asked in ids}
    assert model["observation_only"]["ids"] == [each["id"] for each in run["results"] if each["id"] not in faulty]
    assert model["marker_differs"]["ids"] == ids_asking(run, "REF-007")  # 9 stands inside 90
    assert all(fault["count"] == len(fault["ids"]) for fault in model["faults"].values())


def mistaken(body: dict[str, Any]) -> str:
    """Propose REF-007 when asked about REF-012; everything else right."""
    said = honest(body)
    return said.replace("REF-012", "REF-007") if "response_format" in body else said


@pytest.mark.parametrize("guarded", [False, True])
def test_a_read_of_another_product_is_named_by_id_in_the_second_block_only(
    make: Make, capsys: pytest.CaptureFixture[str], guarded: bool
) -> None:
    outputs = make(script=mistaken, guarded=guarded)
    assert main(["--outputs", str(outputs.folder), "evaluate"]) == 0
    evaluation = json.loads(outputs.json("evaluation").read_text(encoding="utf-8"))
    asked = ids_asking(run_of(outputs), "REF-012")
    assert evaluation["beyond"]["another_product"] == {"count": 1, "ids": asked}
    assert set(evaluation["measures"]) == set(PUBLISHED["runs"][0])
    assert evaluation["measures"]["observation_correct"] == 0.9667
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("another product was read"))
    assert row.split()[4:] == ["1", "1", *map(str, asked)][0 if guarded else 1 :]


def test_the_line_of_an_answer_names_the_product_asked_about_when_another_was_read(
    make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    results = run_of(make(script=mistaken))["results"]
    show = answers.Answers(len(results), 0, "en")
    capsys.readouterr()
    for result in results:
        show(result)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "asked" in line] == [
        "  ≠  2  REF-012 · asked REF-012, read REF-007: stock 9 · no fault found"
    ]
    hostile: Any = {key: value for key, value in results[2].items() if key != "ref"}
    show(hostile)
    assert capsys.readouterr().out.startswith("  ?  2  ")


def test_the_published_marker_counts_what_the_second_block_does_not(make: Make) -> None:
    outputs = make(script=lambda body: honest(body) if "response_format" in body else "120 introuvable")
    _, evaluation = evaluate.evaluate_run(outputs, catalog.DATA)
    # 0, 12 and 20 stand inside 120: the published measure takes them, and keeps doing so.
    assert evaluation["measures"]["answer_marker_present"] > evaluation["beyond"]["model"]["whole_number_present"]
    assert evaluation["beyond"]["model"]["marker_differs"]["count"] > 0
    assert evaluation["beyond"]["model"]["marker_present"] == evaluation["measures"]["answer_marker_present"]


def test_both_columns_are_shown_for_a_guarded_run(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = make(script=scripted, guarded=True)
    assert main(["--outputs", str(outputs.folder), "evaluate"]) == 0
    evaluation = json.loads(outputs.json("evaluation").read_text(encoding="utf-8"))
    delivered = evaluation["beyond"]["delivered"]
    assert delivered["marker_present"] == 1.0
    assert delivered["whole_number_present"] == 1.0
    assert all(fault["count"] == 0 for fault in delivered["faults"].values())
    asked = tuple(WORDED)
    assert delivered["from_observation"]["ids"] == ids_asking(run_of(outputs), *asked)
    printed = capsys.readouterr().out
    assert "delivered" in printed
    assert "not ours" in printed


def test_a_guarded_run_delivers_no_stock_of_a_product_that_was_not_asked_about(make: Make) -> None:
    def instead(body: dict[str, Any]) -> str:
        return honest(body).replace("REF-012", "REF-007")

    outputs = make(script=instead, guarded=True)
    _, evaluation = evaluate.evaluate_run(outputs, catalog.DATA)
    delivered = evaluation["beyond"]["delivered"]
    assert delivered is not None
    assert delivered["from_question"] == evaluation["beyond"]["another_product"] == {"count": 1, "ids": [2]}
    assert 2 not in delivered["observation_only"]["ids"] and delivered["marker_present"] == round(29 / 30, 4)
    assert all(fault["count"] == 0 for fault in delivered["faults"].values())
    given = run_of(outputs)["results"][2]["delivered"]
    text = "There is no answer for REF-012: another product was looked up."
    assert given == {"text": text, "source": "question", "reasons": ["another"]}


def test_the_four_parts_of_the_time_add_up_to_the_question(make: Make) -> None:
    result = run_of(make())["results"][0]
    split = beyond.split_ms(result)
    assert split is not None
    assert sum(split.values()) == pytest.approx(1000 * result["seconds"])
    assert split["server_prompt"] == pytest.approx(0.02)  # twice the stand-in's 0.01 ms


def test_a_server_without_timings_leaves_the_split_unknown(make: Make) -> None:
    def silent(body: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in reply(honest(body)).items() if key != "timings"}

    _, evaluation = evaluate.evaluate_run(make(script=silent), catalog.DATA)
    assert evaluation["beyond"]["time"]["split_mean_ms"] is None
    assert evaluation["beyond"]["time"]["tokens_from_cache"] is None


@pytest.mark.parametrize(("share", "expected"), [(0.5, 2.0), (0.95, 4.0), (1.0, 4.0), (0.0, 1.0)])
def test_percentiles_are_values_that_occurred(share: float, expected: float) -> None:
    assert beyond.percentile([4.0, 1.0, 3.0, 2.0], share) == expected


def test_two_equal_runs_are_compared_and_nothing_changed(make: Make) -> None:
    first, second = make("first"), make("second")
    compared = compare.against(run_of(second), run_of(first), "first")
    assert (compared["questions"], compared["changed"]) == (30, [])


def test_a_changed_answer_is_listed_with_both_texts(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = make("first"), make("second", script=scripted)
    assert main(["--outputs", str(second.folder), "evaluate", "--against", str(first.folder)]) == 0
    evaluation = json.loads(second.json("evaluation").read_text(encoding="utf-8"))
    changes = {change["id"]: change for change in evaluation["against"]["changed"]}
    run = run_of(second)
    assert list(changes) == ids_asking(run, *WORDED)
    assert changes[1]["answer"] == ["9", "90"]
    assert "question 1, answer: 9 -> 90" in capsys.readouterr().out


def test_a_changed_delivery_is_listed_when_both_runs_were_guarded(make: Make) -> None:
    first, second, bare = (
        make("first", guarded=True),
        make("second", script=lambda b: honest(b) if "response_format" in b else f"{honest(b)}.", guarded=True),
        make("bare"),
    )
    changes = compare.against(run_of(second), run_of(first), "first")["changed"]
    assert changes[0]["delivered"] == ["0", "0."]
    changes = compare.against(run_of(second), run_of(bare), "bare")["changed"]
    assert "delivered" not in changes[0]


def test_runs_of_other_questions_are_not_compared(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = make("first"), make("second")
    run = run_of(first)
    del run["results"][3]
    first.json("agent").write_text(json.dumps(run), encoding="utf-8")
    assert "the questions" in refuse(first, second, capsys)


def refuse(there: Outputs, here: Outputs, capsys: pytest.CaptureFixture[str]) -> str:
    """Ask for a comparison that must be refused; returns the line on stderr."""
    capsys.readouterr()
    assert main(["--outputs", str(here.folder), "evaluate", "--against", str(there.folder)]) == 2
    assert not here.json("evaluation").exists()
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    return line


def test_runs_in_two_languages_are_not_compared(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    assert "language" in refuse(make("first"), make("second", language="es"), capsys)


def test_runs_on_servers_with_other_slots_or_jobs_are_not_compared(
    make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    line = refuse(make("first"), make("second", slots=4, in_flight=4), capsys)
    assert "server.slots: 1 there, 4 here" in line
    assert "jobs: 1 there, 4 here" in line


@pytest.mark.parametrize(
    ("place", "value"),
    few(
        [
            (("server", "model"), "another model"),
            (("data", "sha256"), "0" * 64),
            (("server", "quantisation"), "Q8_0"),
            (("server", "build"), "b9999"),
            (("server", "device"), "gpu"),
            (("server", "chat_template_sha256"), "0" * 64),
            (("generation", "max_tokens"), 50),
            (("cpu",), "64 x other"),
        ],
        2,
    ),
)
def test_what_differs_is_named_in_the_refusal(
    make: Make, capsys: pytest.CaptureFixture[str], place: tuple[str, ...], value: Any
) -> None:
    first, second = make("first"), make("second")
    run = run_of(first)
    inside = run["provenance"]
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    first.json("agent").write_text(json.dumps(run), encoding="utf-8")
    assert ".".join(place) in refuse(first, second, capsys)


def test_an_incomplete_run_is_not_compared(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = make("first"), make("second")
    run = run_of(first)
    first.json("agent").write_text(json.dumps({**run, "complete": False}), encoding="utf-8")
    assert "the run there is not complete" in refuse(first, second, capsys)


def test_another_program_version_is_noted_and_compared(make: Make) -> None:
    run = run_of(make())
    other = run | {"provenance": run["provenance"] | {"program": "r3 0.9"}}
    assert compare.against(run, other, "other")["notes"]["program"] == ["r3 0.9", run["provenance"]["program"]]


@pytest.mark.parametrize("content", ["[]", "{}", '{"provenance": {}, "complete": true, "results": [{}]}', "nonsense"])
def test_a_file_that_is_no_run_is_refused_in_one_line(
    make: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str
) -> None:
    outputs = make()
    other = tmp_path / "other.json"
    other.write_text(content, encoding="utf-8")
    assert main(["--outputs", str(outputs.folder), "evaluate", "--against", str(other)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_run_from_another_data_file_is_not_measured(
    make: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    outputs = make()
    data = json.loads(catalog.DATA.read_text(encoding="utf-8"))
    data["products"][7]["stock"] = 10
    other = tmp_path / "other.json"
    other.write_text(json.dumps(data), encoding="utf-8")
    assert main(["--outputs", str(outputs.folder), "evaluate", "--data", str(other)]) == 2
    assert "--data" in capsys.readouterr().err
