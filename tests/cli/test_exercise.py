"""The exercise as a lesson: on a terminal it asks first, elsewhere it only shows; four languages.

Run alone: python -m pytest tests/cli/test_exercise.py
"""

import json
import os
import pty
import signal
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from src.base.errors import CheckFailed, Precondition
from src.base.records import Language
from src.commands import exercise
from src.runs import results
from src.runs.outputs import Outputs
from tests.support.command import ROOT, assert_one_line, cli, environment, snapshot
from tests.support.project import copy_project
from tests.support.terminal import CTRL_C, LIMIT_S, read_until, typed

LANGUAGES = ("en", "es", "vi", "fr")
PROMPT = {"en": "to leave it open): ", "es": "para no responder): ", "vi": "để bỏ qua): ", "fr": "ne pas répondre) : "}
ASKED_ABOUT = ("REF-000", "REF-999", "")  # the third question names no product
ZERO = {"outil": "consulter_stock", "arguments": {"ref": "REF-000"}}
END_OF_INPUT = b"\x04"


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """A folder in which `prepare` was run."""
    assert cli("--outputs", tmp_path / "outputs", "prepare").status == 0
    return tmp_path / "outputs"


def on_a_terminal(folder: Path, keys: Sequence[bytes], language: str = "en") -> tuple[int, str, str]:
    """Run the lesson as a reader does, typing one of `keys` at each prompt; returns status, terminal, stderr."""
    words = ["--outputs", str(folder), "exercise", "--lang", language]
    return typed([sys.executable, "-m", "src.cli", *words], PROMPT[language], keys, ROOT, environment())


def steps_of(folder: Path) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = json.loads((folder / "exercise.json").read_text(encoding="utf-8"))["steps"]
    return steps


def test_on_a_terminal_each_prediction_is_asked_for_before_its_observation(prepared: Path) -> None:
    status, shown, err = on_a_terminal(prepared, [b"2\n", b"1\n", b"\n"])
    assert (status, err) == (0, "")
    first, second, third = (" ".join(shown.split(f"{number}. ")[1].split()) for number in (1, 2, 3))
    for block in (first, second, third):
        assert block.index(PROMPT["en"]) < block.index(" observation ")
    assert "compared as you predicted" in first
    wrong = "(you: yes: a product with stock 0; observed: no: the form is right, and no such product exists)"
    assert f"compared not what you predicted {wrong}" in second
    assert "compared you left it open; expected was: in toolcall(), before any SQL" in third
    assert [step["prediction"] for step in steps_of(prepared)] == ["found", "found", None]
    assert [step["outcome"] for step in steps_of(prepared)] == ["found", "not_found", "gate"]


def test_a_key_that_is_no_choice_is_asked_again_and_three_of_them_leave_the_question_open(prepared: Path) -> None:
    status, shown, _ = on_a_terminal(prepared, [b"no\n", b"2\n", b"0\n", b"9\n", b"-1\n", b"3\n"])
    assert status == 0 and shown.count("type a number from 1 to 3, or Enter alone") == 4
    assert [step["prediction"] for step in steps_of(prepared)] == ["found", None, "gate"]


@pytest.mark.parametrize("key", [CTRL_C, END_OF_INPUT], ids=["Ctrl-C", "Ctrl-D"])
def test_a_reader_who_leaves_gets_one_line_and_no_file(key: bytes, prepared: Path) -> None:
    before = snapshot(prepared)
    status, shown, err = on_a_terminal(prepared, [b"2\n", key])
    assert status == 1 and err.count("\n") == 1 and "Traceback" not in err
    assert "interrupted at question 2 of 3; nothing was written" in err
    assert shown.endswith("\n")  # the line on stderr does not stand behind the prompt
    assert snapshot(prepared) == before


def test_without_a_terminal_nothing_is_asked_and_options_and_expected_outcome_are_shown(
    prepared: Path,
) -> None:
    ended = cli("--outputs", prepared, "exercise")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.count("   expected     ") == ended.out.count("   observation  ") == 3
    for step, ref in zip(exercise.texts("en")["steps"], ASKED_ABOUT, strict=True):
        block = " ".join(ended.out.split()).split(step["question"].format(outil="delete", ref=ref))[1]
        options = [f" {number} {text}" for number, text in enumerate(step["options"].values(), 1)]
        assert "".join(options) in block
        assert block.index(options[-1]) < block.index(" expected ")
    assert PROMPT["en"] not in ended.out
    assert [step["prediction"] for step in steps_of(prepared)] == [None, None, None]


def test_input_from_a_file_is_not_a_reader(prepared: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "src.cli", "--outputs", str(prepared), "exercise"],
        cwd=ROOT,
        env=environment(),
        input="2\n3\n3\n",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and [step["prediction"] for step in steps_of(prepared)] == [None, None, None]


def test_the_record_shows_that_the_forbidden_call_reached_no_sql(prepared: Path) -> None:
    assert cli("--outputs", prepared, "exercise").status == 0
    zero, unknown, forbidden = steps_of(prepared)
    assert zero["sql"] == ["SELECT ref,name,stock FROM products WHERE ref='REF-000'"]
    assert unknown["sql"] == ["SELECT ref,name,stock FROM products WHERE ref='REF-999'"]
    assert forbidden["sql"] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_tells_the_same_lesson_with_the_calls_and_refusals_unchanged(
    language: Language, prepared: Path
) -> None:
    status, shown, err = on_a_terminal(prepared, [b"1\n", b"1\n", b"1\n"], language)
    assert (status, err) == (0, "")
    assert [line for line in shown.splitlines() if len(line) > 80 and "exercise.json" not in line] == []
    shown = " ".join(shown.split())
    for fixed in (
        '{"outil": "delete", "arguments": {"ref": "REF-000"}}',
        '{"ref": "REF-000", "name": "Produit 0", "stock": 0}',
        '{"found": false}',
        "Outil interdit ou appel mal formé",
    ):
        assert fixed in shown
    lesson = exercise.texts(language)
    for step, ref in zip(lesson["steps"], ASKED_ABOUT, strict=True):
        assert step["question"].format(outil="delete", ref=ref) in shown and step["why"] in shown
    assert results.meaning("Outil interdit ou appel mal formé", language) in shown
    assert [step["outcome"] for step in steps_of(prepared)] == ["found", "not_found", "gate"]


def test_the_texts_of_every_language_are_composed_characters_one_column_each() -> None:
    text = (ROOT / "data" / "exercise.json").read_text(encoding="utf-8")
    assert unicodedata.normalize("NFC", text) == text
    assert set(json.loads(text)) == set(LANGUAGES)


@pytest.mark.parametrize(
    "damage",
    [
        lambda made: made.pop("es"),
        lambda made: made["es"]["labels"].pop("why"),
        lambda made: made["es"]["labels"].update(why=3),
        lambda made: made["es"]["steps"].pop(),
        lambda made: made["es"]["steps"][2]["options"].pop("gate"),
        lambda made: made["es"]["steps"][0].pop("question"),
        lambda made: made.update(es=[]),
    ],
)
def test_incomplete_texts_are_named_before_anything_is_shown(damage: Callable[[Any], object], tmp_path: Path) -> None:
    made = json.loads((ROOT / "data" / "exercise.json").read_text(encoding="utf-8"))
    damage(made)
    path = tmp_path / "exercise.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    with pytest.raises(Precondition, match="the texts in 'es' are not complete"):
        exercise.texts("es", path)
    assert exercise.texts("en", path)


def test_an_observation_that_is_not_the_expected_one_fails_the_command(tmp_path: Path) -> None:
    copy = copy_project(tmp_path / "copy")
    source = copy / "src" / "cli.py"
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace('"outil": "delete"', '"outil": "consulter_stock"'), encoding="utf-8")
    assert cli("prepare", cwd=copy).status == 0
    assert_one_line(cli("exercise", cwd=copy), 1, "is not the expected one", "exercise.json")
    assert steps_of(copy / "outputs")[2]["outcome"] == "found"


def test_a_prediction_is_compared_with_an_outcome_that_is_none_of_the_options(prepared: Path) -> None:
    said: list[str] = []
    with pytest.raises(CheckFailed):
        exercise.check(*exercise.exercise(Outputs(prepared), [ZERO], said.append, ask=lambda _: "1"))
    record = '{"ref": "REF-000", "name": "Produit 0", "stock": 0}'
    told = " ".join(" ".join(said).split())
    assert "(you: in the prompt, which asks for one of two tools; observed: " + record in told


def with_cases(tmp_path: Path, cases: str) -> Path:
    """A prepared copy of the project in which a reader has written this list."""
    copy = copy_project(tmp_path / "copy")
    source = copy / "src" / "cli.py"
    before, _, after = source.read_text(encoding="utf-8").partition("cases: list[Any] = [")
    source.write_text(f"{before}cases: list[Any] = {cases}\n_OLD = [{after}", encoding="utf-8")
    assert cli("prepare", cwd=copy).status == 0
    return copy


def test_the_call_of_an_unlisted_tool_is_found_wherever_it_stands(tmp_path: Path) -> None:
    copy = with_cases(
        tmp_path, '[{"outil": "consulter_stock", "arguments": {}}, 7, {"outil": "delete", "arguments": {}}]'
    )
    assert cli("exercise", cwd=copy).status == 0
    assert steps_of(copy / "outputs")[2]["call"]["outil"] == "delete"
    assert cli("negatives", cwd=copy).status == 0


def test_an_empty_list_of_calls_is_named(tmp_path: Path) -> None:
    copy = with_cases(tmp_path, "[]")
    assert_one_line(cli("exercise", cwd=copy), 2, "`cases` in src/cli.py is empty")


def test_a_call_that_json_cannot_hold_is_refused_and_recorded_as_python_writes_it(tmp_path: Path) -> None:
    calls = ("{1, 2}", 'b"delete"', 'float("nan")', "{(1, 2): 3}", '{"outil": {"delete"}, "arguments": {}}')
    copy = with_cases(tmp_path, f"[{', '.join(calls)}]")
    ended = cli("negatives", cwd=copy)
    assert ended.status == 0, ended.err
    checks = json.loads((copy / "outputs" / "negatives.json").read_text())["checks"]
    assert [check["refused"] for check in checks] == [True] * (len(calls) + 2)
    assert checks[1]["attempt"] == "b'delete'"
    assert cli("exercise", cwd=copy).status == 0
    assert steps_of(copy / "outputs")[2]["call"] == "{'outil': {'delete'}, 'arguments': {}}"


def test_sigterm_ends_the_lesson_as_ctrl_c_does(prepared: Path) -> None:
    ours, theirs = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "src.cli", "--outputs", str(prepared), "exercise"],
        cwd=ROOT,
        env=environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    read_until(ours, PROMPT["en"])
    program.send_signal(signal.SIGTERM)
    try:
        _, err = program.communicate(timeout=LIMIT_S)
    finally:
        program.kill()
        os.close(ours)
    assert program.returncode == 1 and err.decode().count("\n") == 1 and "question 1 of 3" in err.decode()
