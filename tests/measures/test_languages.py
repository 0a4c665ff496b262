"""The measures and the refusals are told in the reader's language, within the terminal; records stay as they are.

Run alone: python -m pytest tests/measures/test_languages.py
"""

import re
import tomllib
from pathlib import Path

import pytest

from src.base import messages
from src.base.records import Language
from src.cli import main
from tests.measures.conftest import Make
from tests.support.instant_server import honest

PHRASES = [words for words in tomllib.loads(messages.CATALOGUE.read_text(encoding="utf-8")) if len(words.split()) > 2]
SQLITE = "attempt to write a readonly database"  # its own words, translated in brackets


def told(folder: Path, language: Language, capsys: pytest.CaptureFixture[str]) -> str:
    """What the commands print that need no model, without the paths at their ends."""
    printed = ""
    for command in (["evaluate"], ["evaluate", "--against", str(folder)], ["negatives"]):
        assert main(["--outputs", str(folder), *command, "--lang", language]) == 0
        printed += capsys.readouterr().out
    return "\n".join(line for line in printed.splitlines() if str(folder) not in line)


def test_measures_and_refusals_are_told_in_one_language_and_recorded_in_none(
    make: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    outputs = make(script=honest, guarded=True)
    records: set[tuple[str, ...]] = set()
    for language in messages.LANGUAGES:
        text, said = told(outputs.folder, language, capsys), messages.translator(language)
        read = (outputs.json(name).read_text(encoding="utf-8") for name in ("evaluation", "negatives"))
        records.add(tuple(re.sub(r'"time": "[^"]*"', "", record) for record in read))
        for english in ("states the observation and nothing else", "malformed call", "server, generating", "that run"):
            assert said.gettext(english) in text
        if language != "en":
            assert [phrase for phrase in PHRASES if phrase in text and phrase != SQLITE] == []
            assert "1,0000" in text and "1.0000" not in text
    assert len(records) == 1


def test_no_line_of_them_is_wider_than_a_narrow_terminal(
    make: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    outputs = make(script=honest, guarded=True)
    for language in messages.LANGUAGES:
        lines = told(outputs.folder, language, capsys).splitlines()
        assert [line for line in lines if len(line) > 60] == []
