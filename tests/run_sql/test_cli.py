"""The commands as a user types them: output, one line on stderr, exit status, files.

Run alone: python -m pytest tests/run_sql/test_cli.py
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from src.run_sql.cli import main
from tests.run_sql import harness
from tests.run_sql.harness import ROOT
from tests.support import project
from tests.support.inprocess import Ended

COMMANDS = ["create", "demo", "query", "exercises", "describe", "ask"]
COUNT = "SELECT count(*) FROM rooms"


def run(*arguments: str, stdin: str = "", **variables: str) -> Ended:
    """Run a command from the project's folder."""
    return project.run(*arguments, program="src.run_sql", stdin=stdin, env={**os.environ, **variables})


def one_line(text: str) -> str:
    """Return the only line of `text`."""
    assert text.endswith("\n")
    assert text.count("\n") == 1, text
    return text[:-1]


def test_create_prints_what_it_made_and_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    made = run("create", str(path))
    assert made.status == 0
    rows = {"rooms": 5, "members": 8, "bookings": 23, "payments": 18}
    assert json.loads(one_line(made.out)) == {"path": str(path), "rows": rows}
    content = path.read_bytes()

    again = run("create", str(path))
    assert (again.status, again.out) == (2, "")
    assert f"{path} exists and is left as it is" in one_line(again.err)
    assert path.read_bytes() == content


@pytest.mark.parametrize("command", [["demo"], ["query", "SELECT 1"], ["exercises"]])
def test_a_missing_database_is_one_line_with_the_command_that_makes_it(tmp_path: Path, command: list[str]) -> None:
    done = run(*command, "--db", str(tmp_path / "no.db"))
    assert (done.status, done.out) == (2, "")
    assert one_line(done.err).endswith(f"python -m src.run_sql create {tmp_path / 'no.db'}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["demo", "query", "create"])
def test_a_link_to_nothing_in_the_place_of_the_database_is_called_what_it_is(tmp_path: Path, command: str) -> None:
    link = tmp_path / "reservo.db"
    link.symlink_to("nowhere")
    words = {"demo": ["--db", str(link)], "query": ["SELECT 1", "--db", str(link)], "create": [str(link)]}
    done = run(command, *words[command])
    assert (done.status, done.out) == (2, "")
    assert "reservo.db is a link to something that is not there; remove it" in one_line(done.err)


def test_a_file_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_text("hello")
    for command in (["demo"], ["query", "SELECT 1"]):
        done = run(*command, "--db", str(path))
        assert done.status == 2
        assert str(path) in one_line(done.err)


def test_an_answer_is_json_on_stdout_and_a_refusal_is_status_1(reservo: Path) -> None:
    done = run("query", COUNT, "--db", str(reservo))
    assert (done.status, done.err) == (0, "")
    assert json.loads(one_line(done.out))["rows"] == [[5]]

    done = run("query", "DELETE FROM rooms", "--db", str(reservo))
    assert (done.status, done.err) == (1, "")
    assert json.loads(one_line(done.out)) == {"ok": False, "error": "no es de solo lectura (empieza con DELETE)"}


def test_a_query_can_come_from_standard_input(reservo: Path) -> None:
    done = run("query", "-", "--db", str(reservo), stdin="SELECT 'it''s'\n")
    assert json.loads(done.out)["rows"] == [["it's"]]
    done = run("query", "-", "--db", str(reservo), stdin="SELECT 1 --" + "x" * 10**6)
    assert "demasiado larga" in json.loads(done.out)["error"]


@pytest.mark.parametrize(("rows", "status"), [("3", 0), ("0", 1), ("101", 1), ("x", 2), ("1.5", 2), ("9" * 5000, 2)])
def test_a_row_limit_out_of_range_is_refused_and_one_that_is_no_number_is_wrong_use(
    reservo: Path, rows: str, status: int
) -> None:
    done = run("query", "SELECT id FROM bookings", "--db", str(reservo), "--max-rows", rows)
    assert done.status == status
    assert "Traceback" not in done.err


def test_nothing_in_a_cell_or_a_name_can_steer_a_terminal(reservo: Path) -> None:
    query = "SELECT char(27) || '[2J' || char(8238) || char(155) AS \"\x1b]0;x\x07\""
    done = run("query", query, "--db", str(reservo))
    assert all(character.isprintable() or character == "\n" for character in done.out)
    answer = json.loads(done.out)
    assert (answer["columns"], answer["rows"]) == (["\x1b]0;x\x07"], [["\x1b[2J\u202e\x9b"]])


def test_output_is_utf8_whatever_the_terminal_claims(reservo: Path) -> None:
    done = run("query", "", "--db", str(reservo), PYTHONIOENCODING="ascii", LC_ALL="C")
    assert json.loads(done.out)["error"] == "consulta vacía"


def test_query_bytes_that_are_not_utf8_are_refused_in_words(reservo: Path) -> None:
    command: list[str | bytes] = [sys.executable, "-m", "src.run_sql", "query", b"SELECT '\xff'", "--db", str(reservo)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "UTF-8" in json.loads(done.stdout)["error"]


ENCODED = [
    ("latin1", {}, False),
    ("utf-8", {}, True),
    ("latin1", {"PYTHONIOENCODING": "latin1"}, True),
    ("utf-8", {"PYTHONIOENCODING": "ascii"}, False),
    ("utf-16", {}, False),
]


@pytest.mark.parametrize(("encoding", "environment", "read"), ENCODED)
def test_bytes_on_standard_input_that_are_no_text_are_refused_and_never_become_another_text(
    reservo: Path, encoding: str, environment: dict[str, str], read: bool
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "src.run_sql", "query", "-", "--db", str(reservo)],
        cwd=ROOT,
        input="SELECT COUNT(*) FROM members WHERE name = 'Íñigo Peña'".encode(encoding),
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["ok"]) == (not read, read)
    assert answer["rows"] == [[1]] if read else "UTF-8" in answer["error"] or "null" in answer["error"]


def test_demo_and_exercises_leave_the_file_and_the_folder_as_they_were(reservo: Path) -> None:
    before = harness.snapshot(reservo.parent)
    for command in ("demo", "exercises"):
        assert run(command, "--db", str(reservo)).status == 0
    assert harness.snapshot(reservo.parent) == before


def test_the_demo_fails_when_the_file_changes_meanwhile(
    reservo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def write_instead(con: object) -> list[str]:
        reservo.write_bytes(b"changed")
        return []

    monkeypatch.setattr("src.run_sql.lesson.demo", write_instead)
    assert main(["demo", "--db", str(reservo)]) == 1
    assert "is not what it was" in one_line(capsys.readouterr().err)


def test_describe_checks_and_prints(tmp_path: Path) -> None:
    for form in ("anthropic", "openai", "mcp"):
        done = run("describe", "--format", form, "--tool", "count_rows", "--check")
        assert (done.status, done.err) == (0, "")
        assert "count_rows" in json.dumps(json.loads(done.out))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_the_command_does_and_gives_an_example(command: str) -> None:
    done = run(command, "--help")
    assert done.status == 0
    assert f"example: python -m src.run_sql {command}" in done.out
    assert done.out.count("\n") > 5


def test_the_general_help_names_every_command() -> None:
    done = run("--help")
    assert done.status == 0
    for command in COMMANDS:
        assert f"\n    {command}" in done.out


@pytest.mark.parametrize("arguments", [[], ["nope"], ["query"], ["describe", "--format", "xml"]])
def test_wrong_use_is_one_line_and_status_2(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.status, done.out) == (2, "")
    assert "--help" in one_line(done.err)


def test_a_reader_that_stops_early_causes_no_traceback(reservo: Path) -> None:
    done = subprocess.run(
        f"'{sys.executable}' -m src.run_sql exercises --db '{reservo}' | head -n 1",
        shell=True,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("Exercise 1: read the contract\n", "")


def test_a_full_disk_under_the_output_is_one_line(reservo: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "src.run_sql", "demo", "--db", str(reservo)],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "No space left on device" in one_line(done.stderr)


def test_the_folder_of_results_can_be_named_by_the_environment(tmp_path: Path) -> None:
    done = run("create", R3_OUTPUTS=str(tmp_path))
    assert json.loads(done.out)["path"] == str(tmp_path / "reservo.db")
    assert run("query", COUNT, R3_OUTPUTS=str(tmp_path)).status == 0


@pytest.mark.parametrize(
    ("number", "words"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "interrupted by SIGTERM")]
)
def test_a_signal_in_the_middle_of_a_query_is_one_line_and_status_1(
    number: signal.Signals,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    reservo: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("src.run_sql.cli.run_sql", lambda *_, **__: os.kill(os.getpid(), number))
    assert main(["query", "SELECT 1", "--db", str(reservo)]) == 1
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"python -m src.run_sql query: {words}\n")


@pytest.mark.parametrize("path", ["", ".", "/"])
def test_create_refuses_a_folder_in_one_line(path: str) -> None:
    done = run("create", path)
    assert (done.status, done.out) == (2, "")
    assert "is a folder; name a file in it" in one_line(done.err)


@pytest.mark.parametrize("place", ["default", "named"])
def test_create_makes_the_default_folder_and_no_other(place: str, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "er"
    if place == "default":
        assert run("create", R3_OUTPUTS=str(folder)).status == 0
        assert run("query", COUNT, R3_OUTPUTS=str(folder)).status == 0
    else:
        done = run("create", str(folder / "r.db"))
        assert done.status == 2
        assert f"the folder {folder} does not exist" in one_line(done.err)
        assert list(tmp_path.iterdir()) == []
