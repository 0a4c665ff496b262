"""What a person sees: nothing wider than the terminal, in four languages; colour where it is wanted; the page last.

Results go to stdout and progress to stderr. Run alone: python -m pytest tests/measures/test_screen.py
"""

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from src import agent
from src.base import layout, messages
from src.base.records import Language
from src.cli import main
from src.commands import stages
from src.measures import verdicts
from src.runs import database, provenance
from tests.measures.conftest import Make
from tests.support.command import ROOT, environment
from tests.support.depth import few
from tests.support.instant_server import InstantServer, honest, reply
from tests.support.terminal import typed

Serve = Callable[..., InstantServer]
QUESTION = "What is the stock level for REF-000?"
LOOP = "La réponse est de la réponse, ou introuvable. " * 8
SAID: dict[str, Any] = {"REF-007": reply(LOOP, "length"), "REF-020": "在庫は百十五個です。" * 9, "REF-036": "x" * 300}
PHRASES = [words for words in tomllib.loads(messages.CATALOGUE.read_text(encoding="utf-8")) if len(words.split()) > 3]


def varied(body: dict[str, Any]) -> Any:
    """Answers of every kind: right, looping and cut, wide characters, a word without an end; REF-012 is refused."""
    asked = body["messages"][-1]["content"]
    if "response_format" in body:
        return '{"outil": "delete", "arguments": {"ref": "REF-012"}}' if "REF-012" in asked else honest(body)
    return next((said for ref, said in SAID.items() if ref in asked), None) or honest(body)


def reproduced(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[list[str], str]:
    """What `reproduce` prints: the lines of stdout, and stderr."""
    assert main(["--outputs", str(folder), "reproduce", *words]) == 0
    told = capsys.readouterr()
    return told.out.splitlines(), told.err


@pytest.mark.parametrize("columns", few([60, 80, 120]))
@pytest.mark.parametrize("language", few(["vi", *sorted({*messages.LANGUAGES} - {"vi"})]))
def test_no_line_is_wider_than_the_terminal_and_every_word_is_in_the_readers_language(
    serve: Serve,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    language: Language,
    columns: int,
) -> None:
    serve(varied)
    monkeypatch.setenv("COLUMNS", str(columns))
    lines, _ = reproduced(tmp_path, capsys, "--lang", language, "--runs", "2")
    assert main(["reproduce", "--opening", "--lang", language]) == 0
    lines += capsys.readouterr().out.splitlines()
    own = [line for line in lines if str(tmp_path) not in line]  # a path or a command is not broken
    assert len(own) > 80 and [line for line in own if layout.cells(line) > columns] == []
    if language != "en":
        whole = " ".join(" ".join(lines).split())
        assert [phrase for phrase in PHRASES if phrase in whole] == []


def test_each_answer_has_a_line_with_the_sign_of_its_outcome(
    make: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = make(script=varied)
    capsys.readouterr()
    assert main(["--outputs", str(outputs.folder), "agent"]) == 0
    told = capsys.readouterr()
    lines = [line for line in told.out.splitlines() if line.startswith("  ") and "  REF-" in line]
    assert len(lines) == 30 and told.err == ""
    signs = {line.split("  REF-")[1][:3]: line.split()[0] for line in lines}
    expected = {"000": "right", "007": "missing", "012": "refused", "036": "missing", "999": "right"}
    assert {ref: signs[ref] for ref in expected} == {ref: verdicts.OUTCOMES[key][0] for ref, key in expected.items()}
    assert len({sign for sign, _ in verdicts.OUTCOMES.values()}) == len(verdicts.OUTCOMES)  # without colour, too


def test_the_verdict_ends_with_the_whole_of_what_answered_however_long(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    serve()
    monkeypatch.setattr(provenance, "_cpu", lambda: "2 x a processor whose name goes on and on and on to its end")
    lines, _ = reproduced(tmp_path, capsys)
    assert "on and on to its end Next, predict" in " ".join(" ".join(lines).split())


def test_results_go_to_stdout_and_progress_to_stderr_and_the_page_is_last(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serve()
    lines, err = reproduced(tmp_path, capsys)
    assert err == f"== results go to {tmp_path / 'run-001'}\n"
    assert lines[-1] == str(tmp_path / "run-001" / "report.html") and not any("==" in line for line in lines)
    assert sum("The verdict" in line for line in lines) == 1 and len(lines) < 75
    assert not any("\x1b" in line for line in lines)


@pytest.mark.parametrize(
    ("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)]
)
def test_a_terminal_gets_colours_unless_it_or_its_user_says_otherwise(env: dict[str, str], coloured: bool) -> None:
    command = [sys.executable, "-m", "src.cli", "reproduce", "--opening"]
    status, shown, err = typed(command, "\0", [], ROOT, environment(**{"TERM": "xterm", **env}))
    assert (status, err) == (0, "") and ("\x1b[" in shown) is coloured
    assert "✓" in shown and "■" in shown and "no SQL was run" in " ".join(shown.split())


def test_a_stage_is_shown_before_the_next_one_is_asked_for(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []

    def watching(body: dict[str, Any]) -> str:
        seen.append(capsys.readouterr().out)
        return honest(body)

    outputs = make(script=watching)
    capsys.readouterr()
    seen.clear()
    with database.opened(outputs) as db:
        agent.run(db, {"query": QUESTION}, told=stages.Stages(db, QUESTION, "en"))
    before_proposal, before_sentence = seen
    assert QUESTION in before_proposal and "proposal" not in before_proposal
    shown = ('"outil": "consulter_stock"', "✓ passed", "WHERE ref='REF-000'", '"name": "Produit 0", "stock": 0')
    places = [before_sentence.index(part) for part in shown]
    assert places == sorted(places) and "answer" in capsys.readouterr().out


def test_a_refused_proposal_shows_its_check_and_no_sql(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = make(script=varied)
    capsys.readouterr()
    assert main(["--outputs", str(outputs.folder), "ask", "REF-012?"]) == 1
    out = capsys.readouterr().out
    assert "Outil interdit ou appel mal formé (forbidden tool or malformed call)" in " ".join(out.split())
    assert "■ refused by the check: tool and shape" in out
    assert "SQL" not in out and "\n  answer" not in out


def test_a_long_run_has_a_status_line_now_and_then_and_no_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    from src.commands.answers import EACH, LINES_PER_RUN, Answers

    many = 10 * EACH
    answers = Answers(many, 0, "en")
    for _ in range(many):
        answers({"query": QUESTION, "proposal": None, "trace": [], "answer": None, "error": "x", "seconds": 1.0})
    told = capsys.readouterr()
    assert told.out == "" and LINES_PER_RUN <= told.err.count("\n") <= LINES_PER_RUN + 1
    assert told.err.endswith(f"{many}/{many} questions\n")


@pytest.mark.parametrize(
    ("text", "columns", "lines"),
    [
        ("one two three", 12, ["- one two", "  three"]),
        ("x" * 15, 12, ["- " + "x" * 10, "  " + "x" * 5]),
        ("在庫在庫在庫", 10, ["- 在庫在庫", "  在庫"]),  # two columns each
        ("ga\u0323o ga\u0323o ga\u0323o", 10, ["- ga\u0323o ga\u0323o", "  ga\u0323o"]),  # the mark takes none
        ("one\ntwo", 12, ["- one", "  two"]),
    ],
)
def test_lines_are_wrapped_by_the_columns_that_they_take(text: str, columns: int, lines: list[str]) -> None:
    assert layout.wrapped(text, "- ", columns=columns).split("\n") == lines


def test_a_table_with_too_many_columns_goes_on_below_itself() -> None:
    head = ["measure", *(f"run-{number:03d}" for number in range(1, 13))]
    shown = layout.table([head, ["observation_correct", *(["1.0000"] * 12)]], columns=60)
    assert max(map(len, shown.splitlines())) <= 60
    assert shown.count("measure") > 1 and all(shown.count(name) == 1 for name in head[1:])
