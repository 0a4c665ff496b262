"""Whose result it is: the model that was asked, what its server says, and what a reader is told before the figures.

Run alone: python -m pytest tests/measures/test_provenance.py
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from src import agent
from src.base.errors import Precondition
from src.cli import main
from src.commands import prepare
from src.runs import catalog, database
from src.runs.outputs import Outputs
from tests.measures.conftest import Make
from tests.support.faulty_server import Request, http, send, serving

R3 = "Qwen2.5-7B-Instruct Q4_K_M"  # the label under which the lock file pins R3's two files


def listing(*models: str) -> Callable[[Request], Any]:
    """A server that lists these models, and says nothing else about itself."""

    def plan(request: Request) -> Any:
        if request.path == "/v1/models":
            return [send(http(json.dumps({"data": [{"id": name} for name in models]}).encode()))]
        return [send(http(b"{}", "404 Not Found"))] if request.path == "/props" else None

    return plan


@pytest.fixture
def shop(tmp_path: Path) -> Outputs:
    outputs = Outputs(tmp_path / "outputs")
    prepare.prepare(outputs, catalog.DATA)
    return outputs


def read(outputs: Outputs, name: str) -> dict[str, Any]:
    return dict(json.loads(outputs.json(name).read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("listed", "asked_for", "named"),
    [
        ((R3, "tiny"), "tiny", "tiny"),
        ((R3, "tiny"), "other", None),
        ((R3, "tiny"), R3, R3),
        ((R3,), "other", R3),  # llama.cpp serves one model and ignores the name
        ((), "other", None),
    ],
)
def test_a_run_is_labelled_with_the_model_that_was_asked(
    listed: tuple[str, ...], asked_for: str, named: str | None, shop: Outputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(listing(*listed)) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        monkeypatch.setenv("LLM_MODEL", asked_for)
        assert main(["--outputs", str(shop.folder), "ask", "How many of REF-001?"]) == 0
    said = read(shop, "ask")["provenance"]
    assert (said["server"]["requested"], said["server"]["model"]) == (asked_for, named)
    assert bool(said["server"]["files"]) is (named == R3)
    sent = {name: value for name, value in agent.GENERATION.items() if name != "cache_prompt"}  # no llama.cpp
    assert said["generation"] == sent and len(said["database"]) == 64


@pytest.mark.parametrize(
    "failure",
    [
        ConnectionResetError(104, "reset"),
        TimeoutError(),
        OSError("no route"),
        RecursionError("deep"),
        IndexError("none"),
        AttributeError("content"),
        KeyError("choices"),
        RuntimeError("x"),
        OverflowError("big"),
        UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"),
        EOFError("of a kind that nobody thought of"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_whatever_the_generation_fails_with_is_that_questions_error(failure: Exception, shop: Outputs) -> None:
    db = database.connect(shop)
    with patch("src.agent.generate", side_effect=failure):
        result = agent.run(db, {"id": 0, "ref": "REF-000", "query": "?"})
    db.close()
    assert result["error"] and (result["proposal"], result["trace"], result["answer"]) == (None, [], None)


@pytest.mark.parametrize(
    "failure", [MemoryError(), Precondition("LLM_TIMEOUT_S is no number"), KeyboardInterrupt(), SystemExit(1)], ids=repr
)
def test_what_ends_the_command_is_no_questions_error(failure: BaseException, shop: Outputs) -> None:
    db = database.connect(shop)
    with patch("src.agent.generate", side_effect=failure), pytest.raises(type(failure)):
        agent.run(db, {"id": 0, "ref": "REF-000", "query": "?"})
    db.close()


def test_evaluate_says_whose_figures_it_prints(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = make()
    server = read(outputs, "agent")["provenance"]["server"]
    capsys.readouterr()
    assert main(["--outputs", str(outputs.folder), "evaluate"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(f"{server['model']}, {server['build']}, ")


def test_evaluate_says_that_a_run_is_incomplete(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = make()
    run = read(outputs, "agent")
    outputs.json("agent").write_text(json.dumps({**run, "complete": False, "results": run["results"][:10]}))
    capsys.readouterr()
    assert main(["--outputs", str(outputs.folder), "evaluate"]) == 0
    assert "INCOMPLETE: 10 results" in capsys.readouterr().out


def test_evaluate_fails_when_the_database_changed_during_the_run(
    make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = make()
    outputs.json("agent").write_text(json.dumps({**read(outputs, "agent"), "unchanged": False}))
    capsys.readouterr()
    assert main(["--outputs", str(outputs.folder), "evaluate"]) == 1
    told = capsys.readouterr()
    assert "THE DATABASE CHANGED" in told.out and "changed during the run" in told.err
    assert read(outputs, "evaluation")["unchanged"] is False


def test_reproduce_speaks_the_readers_language_throughout(
    serve: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serve()
    assert main(["--outputs", str(tmp_path), "reproduce", "--lang", "es"]) == 0
    assert json.loads((tmp_path / "run-001" / "exercise.json").read_text())["language"] == "es"
    assert "exercise --lang es\n" in capsys.readouterr().out


def test_reproduce_without_the_template_library_says_so_in_one_line_and_ends_well(
    serve: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    serve()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(["--outputs", str(tmp_path), "reproduce"]) == 0
    told = capsys.readouterr()
    assert told.err.count("no report: the report needs Jinja2") == 1 and "python -m src.cli reproduce:" not in told.err
    folder = tmp_path / "run-001"
    assert told.out.splitlines()[-1] == str(folder) and (folder / "evaluation.json").is_file()


def test_reproduce_with_a_file_it_cannot_use_makes_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = catalog.DATA.with_name("hostile.json")
    assert main(["--outputs", str(tmp_path / "new"), "--embedded", "reproduce", "--data", str(hostile)]) == 2
    assert "holds questions and no products" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
