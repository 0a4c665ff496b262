"""What a run was made under is recorded whole: nothing that decides about an answer changes unseen between two halves.

Run alone with: python -m pytest tests/measures/test_conditions.py
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from src import agent, tools
from src.base.errors import CheckFailed, Interrupted, Precondition
from src.base.records import Result
from src.cli import main
from src.commands import prepare
from src.measures import published
from src.report import render
from src.runs import catalog, conditions, differences, recovery, session
from src.runs.outputs import Outputs
from tests.measures.conftest import Make
from tests.support.instant_server import honest, reply

TEN = 10
# What a reader may edit in src/agent.py and src/tools.py, and the name under which the difference is told.
EDITS: dict[str, tuple[object, str, object, str]] = {
    "the second prompt": (agent, "WORD", agent.WORD.replace("Ne devine pas", "Devine"), "prompts.word"),
    "the first prompt": (agent, "CHOOSE", "Choose a tool.", "prompts.choose"),
    "the schema": (agent, "SCHEMA", {**agent.SCHEMA, "additionalProperties": True}, "schema.additionalProperties"),
    "the generation": (agent, "GENERATION", {**agent.GENERATION, "max_tokens": 50}, "generation.max_tokens"),
    "the SELECT": (tools, "READ", "SELECT ref, name, stock FROM products WHERE ref=?", "read"),
}


def begin(outputs: Outputs, **how: Any) -> session.Run:
    return session.begin(outputs, catalog.DATA, "en", lambda _: None, **how)


@pytest.fixture
def broken_off(serve: Callable[..., object], tmp_path: Path) -> Outputs:
    """The folder of a run that was ended after ten questions."""
    outputs, seen = Outputs(tmp_path / "run"), []

    def stop(result: Result) -> None:
        seen.append(result)
        if len(seen) == TEN:
            raise KeyboardInterrupt

    serve(honest)
    prepare.prepare(outputs, catalog.DATA)
    with pytest.raises(Interrupted):
        session.work(begin(outputs), stop)
    return outputs


@pytest.mark.parametrize("edit", EDITS)
def test_a_run_is_not_finished_under_another_prompt_schema_or_select(
    edit: str, broken_off: Outputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, name, value, told = EDITS[edit]
    before = broken_off.journal.read_bytes()
    monkeypatch.setattr(module, name, value)
    with pytest.raises(Precondition) as refused:
        recovery.resume(begin(broken_off), lambda _: None)
    assert f"made under different conditions: {told}: " in str(refused.value)
    assert broken_off.journal.read_bytes() == before


@pytest.mark.parametrize("file", conditions.DECIDING, ids=lambda path: path.name)
def test_an_edit_of_the_code_that_decides_is_a_difference(
    file: Path, broken_off: Outputs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    edited = tmp_path / file.name
    edited.write_bytes(file.read_bytes() + b"\n")
    monkeypatch.setattr(conditions, "DECIDING", [edited if path == file else path for path in conditions.DECIDING])
    with pytest.raises(Precondition, match=r"different conditions: code: \"[0-9a-f]{64}\" there"):
        recovery.resume(begin(broken_off), lambda _: None)


def test_the_words_of_the_guard_count_where_a_sentence_was_guarded_and_only_there(
    serve: Callable[..., object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(honest)
    outputs = Outputs(tmp_path / "run")
    prepare.prepare(outputs, catalog.DATA)
    guarded, plain = begin(outputs, guarded=True).identity, begin(outputs).identity
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "en.toml").write_text("other words", encoding="utf-8")
    monkeypatch.setattr(conditions, "WORDING", (tmp_path / "words",))
    assert begin(outputs, guarded=True).identity["wording"] != guarded["wording"]
    assert begin(outputs).identity == plain
    assert all(list(folder.glob("*")) for folder in conditions.WORDING)


def test_two_long_values_are_shown_from_where_they_part() -> None:
    then = "Réponds uniquement avec le stock observé, " * 5 + "ou introuvable."
    line = differences.in_words("prompts.word", then, then.replace("introuvable", "inconnu"))
    assert "ou introuvable" in line and "ou inconnu" in line and len(line) < 250


def test_another_server_is_told_in_one_line_its_model_first() -> None:
    there = {"server": {"model": "one", "build": "b1", "defaults": {"top_k": 40, "top_p": 0.9}, "slots": 1}}
    here: dict[str, Any] = {"server": {"model": "two", "build": None, "defaults": {}, "slots": None}}
    found = differences.differing(there, here, ["server"])
    assert [name for name, _, _ in found] == ["server.model", "server.build", "server.defaults", "server.slots"]
    line = differences.listed(found * 10)
    assert line.startswith('server.model: "one" there, "two" here; ') and line.endswith("; and 34 more")
    assert line.count(" there, ") == differences.MOST


def test_a_comparison_says_under_which_other_prompt_the_two_runs_were_made(
    make: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = make("first")
    monkeypatch.setattr(agent, "WORD", agent.WORD + " Une phrase.")
    second = make("second")
    assert main(["--outputs", str(second.folder), "evaluate", "--against", str(first.folder)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "differs as well: prompts.word: " in printed
    assert "0 of 30 questions changed" in printed
    assert "not R3’s: prompts; the published columns were made with others" in printed
    run, evaluation = (json.loads(second.json(name).read_text(encoding="utf-8")) for name in ("agent", "evaluation"))
    assert "This run was made with other prompts than R3’s" in render.page(run, evaluation, None)


def test_what_is_recorded_of_r3_is_what_the_program_sends(make: Make) -> None:
    provenance = json.loads(make().json("agent").read_text(encoding="utf-8"))["provenance"]
    assert published.not_r3(provenance) == []
    assert published.not_r3({**provenance, "schema": {}, "read": "SELECT 1"}) == ["schema", "read"]


def swapped(body: dict[str, Any]) -> Any:
    """Another model answers from the second sentence about REF-001 on."""
    said = honest(body)
    other = "response_format" not in body and "REF-001" in body["messages"][-1]["content"]
    return reply(said, model="another") if other else said


def test_a_run_of_two_models_is_marked_replaces_nothing_and_is_measured_by_nobody_unsaid(
    make: Make, serve: Callable[..., object], capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = make()
    good = outputs.json("agent").read_bytes()
    serve(swapped)
    with pytest.raises(CheckFailed, match="two of model"):
        session.work(begin(outputs), lambda _: None)
    assert outputs.json("agent.previous").read_bytes() == good
    run = json.loads(outputs.json("agent").read_text(encoding="utf-8"))
    assert run["complete"] is False and "another" in run["mixed"]["model"]
    assert main(["--outputs", str(outputs.folder), "evaluate"]) == 1
    told = capsys.readouterr()
    assert told.out.startswith("TWO MODELS ANSWERED (model Stand-in Q0_0, another)")
    assert "its replies name two of model, Stand-in Q0_0 and another; " in told.err
    assert "More than one model answered in this run" in render.page(run, None, None)


def test_what_every_reply_says_of_itself_wins_over_the_listing(
    serve: Callable[..., object], tmp_path: Path, make: Make
) -> None:
    outputs = make(script=lambda body: reply(honest(body), model="the one that answers"))
    server = json.loads(outputs.json("agent").read_text(encoding="utf-8"))["provenance"]["server"]
    assert server["model"] == "the one that answers" and server["listed"] and server["files"] == []
