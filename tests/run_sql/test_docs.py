"""docs/RUN_SQL.md says what happens: every console block is run, every figure of its tables is the code's.

In a ```console block a line that starts with `$ ` is a command and what follows is its exact output.
Run alone: python -m pytest tests/run_sql/test_docs.py
"""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from src.run_sql import engine, serve, tool, values
from src.run_sql.text import MAX_QUERY_CHARS
from tests.run_sql.harness import ROOT
from tests.support import console
from tests.support.project import environment, run

PAGE = ROOT / "docs" / "RUN_SQL.md"
TEXT = PAGE.read_text(encoding="utf-8")


QUERY = ["python", "-m", "src.run_sql", "query"]
OPERATOR = re.compile("[();<>|&]+")


def printed(command: str, folder: Path) -> str:
    """What a command prints, run by a shell; a query alone, of which the page has dozens, without a new interpreter."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(lexer)
    if words[:4] == QUERY and not any(map(OPERATOR.fullmatch, words)):
        env = environment(R3_OUTPUTS=str(folder / "outputs"))
        ended = run(*shlex.split(command)[3:], env=env, program="src.run_sql")
        return ended.out + ended.err
    return console.run(command, folder, {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"})[1]


@pytest.mark.slow
def test_every_command_of_the_page_prints_what_the_page_shows(tmp_path: Path) -> None:
    for name in ("src", "data"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "outputs").mkdir()
    steps = [step for block in console.blocks(PAGE) if block.language == "console" for step in block.steps()]
    assert len(steps) > 15
    for command, shown in steps:
        assert printed(command, tmp_path) == shown, command
    assert [file.name for file in (tmp_path / "outputs").iterdir()] == ["reservo.db"]


def test_the_spanish_page_shows_the_same_blocks() -> None:
    shown = [[block.steps() for block in console.blocks(page)] for page in (PAGE, PAGE.with_suffix(".es.md"))]
    assert shown[0] == shown[1] and len(shown[0]) > 15


def test_the_figures_of_the_tables_are_those_of_the_code() -> None:
    for figure in (
        f"| rows | {tool.MAX_ROWS} |",
        f"| query | {MAX_QUERY_CHARS:,} characters |",
        f"| time of a call | {serve.CALL_SECONDS} s of the processor, {serve.WALL_SECONDS} s on the clock |",
        f"| memory of the statement's process | {engine.MEMORY_BYTES >> 20} MiB |",
        f"| cell, result | {values.MAX_CELL_CHARS:,} and {values.MAX_RESULT_CHARS:,} characters |",
        f"| one value while the query runs | {engine.MAX_VALUE_BYTES:,} bytes |",
        f"a cell over {values.MAX_CELL_CHARS:,} characters",
        f"a column name over {values.MAX_NAME_CHARS} characters, an error over {values.MAX_ERROR_CHARS} |",
    ):
        assert figure in TEXT, figure


def test_every_file_and_name_of_the_page_exists() -> None:
    both = TEXT + PAGE.with_suffix(".es.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:src|tests|docs)/[\w/.]+\.\w+)`", both):
        if not name.startswith("src/anthropic"):
            assert (ROOT / name).is_file(), name
    for module, name in re.findall(r"`(engine|gate|guard|serve|tool|text|values|worker)\.(\w+)`", both):
        if name != "py":
            assert re.search(rf"^(def|class) {name}\b", (ROOT / f"src/run_sql/{module}.py").read_text(), re.M), name
