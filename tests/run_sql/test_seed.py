"""The lesson's own listings, read from the tutorial's text beside the project, run as they stand against our database.

Nothing of the lesson is copied here; where its text does not lie beside the project, these tests are skipped.
Run alone: python -m pytest tests/run_sql/test_seed.py
"""

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest

from tests.run_sql.harness import ROOT

SEEDS = sorted(ROOT.parent.glob("shared/seeds/003_*.txt"))
pytestmark = pytest.mark.skipif(
    not SEEDS, reason="the lesson's text (../shared/seeds/003_*.txt) is not beside the project"
)
STAR = "from src.run_sql import *\n"


def lines() -> list[str]:
    """Return the lines of the lesson."""
    return SEEDS[0].read_text(encoding="utf-8").splitlines()


def block(start: str, last: str) -> str:
    """Return the lines from the first that is `start` (or begins with it and a parenthesis) to the next `last`."""
    text = lines()
    first = next(number for number, line in enumerate(text) if line.startswith(start))
    end = next(number for number in range(first, len(text)) if text[number].startswith(last))
    return "\n".join(text[first : end + 1]) + "\n"


def printed_blocks() -> list[str]:
    """Return what the lesson says that its example, its bypass, its row cap and its exercise print."""
    text = lines()
    heads = [number for number, line in enumerate(text) if line.startswith("Qué esperar:")]
    blocks = []
    for head in heads:
        shown = []
        for line in text[head + 2 :]:
            if not line:
                break
            shown.append(line)
        blocks.append("\n".join(shown) + "\n")
    return [*blocks, next(line for line in text if '"columns": ["tier", "n"]' in line) + "\n"]


def listings() -> dict[str, str]:
    """Return the lesson's code: `tools` the two contracts, `own` its functions, and what it runs, in its order."""
    text = "\n".join(lines())
    runs, rest = [], text
    while "\ncon = open_reservo()" in rest:
        rest = rest[rest.index("\ncon = open_reservo()") + 1 :]
        end = rest.index("con.close()") + len("con.close()")
        runs.append(rest[:end])
    own = block("import sqlite3, re, json", "    return True, None")
    own += block("def open_reservo", "    return con") + block(
        "def run_sql", '        return {"ok": False, "error": f"{type(e)'
    )
    tools = block("run_sql_tool = {", "}") + block("count_rows_tool = {", "}")
    return {"own": own, "tools": tools, **{f"run {number}": code for number, code in enumerate(runs)}}


def run(*code: str) -> tuple[str, dict[str, Any]]:
    """Run pieces of code one after the other as one program; return what they print and their names."""
    names: dict[str, Any] = {}
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        for piece in code:
            exec(compile(piece, "the lesson", "exec"), names)
    return output.getvalue(), names


RUNS = [code for name, code in listings().items() if name.startswith("run ")] if SEEDS else []


@pytest.fixture(autouse=True)
def folder(reservo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where `reservo.db` lies, as the lesson does."""
    monkeypatch.chdir(reservo.parent)


def test_the_lesson_has_the_four_runs_and_outputs_that_this_file_looks_for() -> None:
    assert len(RUNS) == len(printed_blocks()) == 4


@pytest.mark.parametrize("number", range(4))
def test_after_our_star_import_the_lessons_lines_print_what_the_lesson_prints(number: int) -> None:
    assert run(STAR, RUNS[number])[0] == printed_blocks()[number]


@pytest.mark.parametrize("number", range(4))
def test_the_lessons_own_functions_on_our_database_print_it_too(number: int) -> None:
    assert run(listings()["own"], RUNS[number])[0] == printed_blocks()[number]


@pytest.mark.parametrize("theirs", ["open_reservo", "run_sql"])
@pytest.mark.parametrize("number", range(4))
def test_the_lessons_connection_with_our_tool_and_ours_with_the_lessons(number: int, theirs: str) -> None:
    other = "open_reservo" if theirs == "run_sql" else "run_sql"
    mixed = f"from src.run_sql import {other}\n"
    assert run(listings()["own"], mixed, RUNS[number])[0] == printed_blocks()[number]


def test_the_contracts_are_the_lessons() -> None:
    from src import run_sql

    _, names = run(listings()["tools"])
    assert (names["run_sql_tool"], names["count_rows_tool"]) == (run_sql.run_sql_tool, run_sql.count_rows_tool)


def test_the_lessons_validate_and_ours_say_the_same_of_its_queries(reservo: Path) -> None:
    _, theirs = run(listings()["own"])
    _, ours = run(STAR)
    queries = ("SELECT SUM(b.total) FROM bookings b", "DELETE FROM rooms", "SELECT 1; SELECT 2", " -- x", "SELECT 1")
    con = ours["open_reservo"]()
    for query in queries:
        assert theirs["validate"](query, con) == ours["validate"](query, con)
    con.close()
