"""The commands that need no model: what they print, what they write, and how wrong use ends.

Run alone: python -m pytest tests/cli
"""

import json
import os
import socket
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from src import __version__
from src.base.printable import ASCII
from src.commands import negatives, stages
from src.commands.entries import COMMANDS
from src.measures import verdicts
from src.tools import digest
from tests.support import forked, stranger
from tests.support.command import ROOT, Ended, assert_one_line, cli, environment, snapshot
from tests.support.depth import few
from tests.support.project import copy_project

NEVER = {"requests", "huggingface_hub", "xllamacpp"}


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """A folder in which `prepare` was run."""
    folder = tmp_path / "outputs"
    assert cli("--outputs", folder, "prepare").status == 0
    return folder


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_prepare_builds_the_database_and_records_its_digest(prepared: Path) -> None:
    record = read(prepared / "prepare.json")
    assert record["digest"] == digest(prepared / "stock.db")
    assert record["products"] == 60
    assert sorted(path.name for path in prepared.iterdir()) == ["prepare.json", "stock.db"]


def test_a_second_prepare_is_refused_and_changes_nothing(prepared: Path) -> None:
    before = snapshot(prepared)
    assert_one_line(cli("--outputs", prepared, "prepare"), 2, "stock.db exists", "fresh copy")
    assert snapshot(prepared) == before


def test_a_folder_of_somebody_else_is_named_with_its_owner_and_the_remedy(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    folder.mkdir()
    before, owner = stranger.closed(folder)
    command = [*before, sys.executable, "-m", "src.cli", "--outputs", str(folder), "prepare"]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=60)
    ended = Ended(done.returncode, done.stdout, done.stderr)
    assert_one_line(ended, 2, f"belongs to user {owner} ", f"runs as user {os.geteuid()},", "sh scripts/setup.sh")
    assert list(folder.iterdir()) == []


def test_negatives_refuses_seven_of_seven_and_leaves_the_database(prepared: Path) -> None:
    before = digest(prepared / "stock.db")
    ended = cli("--outputs", prepared, "negatives")
    assert (ended.status, ended.err) == (0, "")
    assert "7 refused out of 7; database unchanged" in ended.out
    assert ended.out.rstrip().endswith("negatives.json")
    result = read(prepared / "negatives.json")
    kinds = [check["kind"] for check in result["checks"]]
    assert kinds == ["malformed call"] * 5 + ["call budget", "SQLite write"]
    assert all(check["refused"] for check in result["checks"])
    assert result["digest_before"] == result["digest_after"] == digest(prepared / "stock.db") == before


def test_a_write_that_gets_through_is_reported_and_shows_in_the_digest(tmp_path: Path) -> None:
    """Both locks of the connection are broken on purpose."""
    copy = copy_project(tmp_path / "copy")
    tools = copy / "src" / "tools.py"
    source = tools.read_text(encoding="utf-8")
    broken = source.replace("?mode=ro", "?mode=rw").replace("query_only=ON", "query_only=OFF")
    tools.write_text(broken, encoding="utf-8")
    assert cli("prepare", cwd=copy).status == 0
    ended = cli("negatives", cwd=copy)
    assert_one_line(ended, 1, "a forbidden attempt was not refused: UPDATE products")
    assert "6 refused out of 7; database CHANGED" in ended.out and ended.out.count("GOT THROUGH: ") == 1
    assert '"UPDATE products SET stock=stock+1"\n    GOT THROUGH: it went through' in ended.out
    result = read(copy / "outputs" / "negatives.json")
    assert (result["refused"], result["unchanged"]) == (6, False)


def test_a_write_that_fails_for_another_reason_is_no_refusal() -> None:
    """A missing table would hide a connection that writes."""
    with closing(sqlite3.connect(":memory:")) as db:
        assert negatives._refusal(lambda: db.execute(negatives.WRITE)) == (False, "no such table: products")


def test_exercise_shows_zero_unknown_and_refusal_apart(prepared: Path) -> None:
    ended = cli("--outputs", prepared, "exercise")
    assert (ended.status, ended.err) == (0, "")
    zero, unknown, forbidden = read(prepared / "exercise.json")["steps"]
    assert zero["observation"] == {"ref": "REF-000", "name": "Produit 0", "stock": 0}
    assert unknown["observation"] == {"found": False}
    assert (forbidden["observation"], forbidden["refusal"]) == (None, "Outil interdit ou appel mal formé")
    assert forbidden["call"]["outil"] == "delete"


def test_renaming_the_forbidden_tool_changes_nothing_about_its_refusal(tmp_path: Path) -> None:
    copy = copy_project(tmp_path / "copy")
    source = copy / "src" / "cli.py"
    text = source.read_text(encoding="utf-8")
    assert text.count('"outil": "delete"') == 1
    source.write_text(text.replace('"outil": "delete"', '"outil": "modifier_stock"'), encoding="utf-8")
    assert cli("prepare", cwd=copy).status == 0
    ended = cli("negatives", cwd=copy)
    assert ended.status == 0 and "modifier_stock" in ended.out and "delete" not in ended.out
    first = read(copy / "outputs" / "negatives.json")["checks"][0]
    assert (first["refused"], first["reason"]) == (True, "Outil interdit ou appel mal formé")


@pytest.mark.parametrize("command", ["negatives", "exercise", "agent", "evaluate"])
def test_a_command_without_its_input_names_what_is_missing(command: str, tmp_path: Path) -> None:
    ended = cli("--outputs", tmp_path, command)
    assert_one_line(ended, 2, "is missing", "agent.json" if command == "evaluate" else "stock.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\x00" + b"\xff" * 200])
def test_a_damaged_database_is_named_and_left(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "stock.db").write_bytes(content)
    assert_one_line(cli("--outputs", tmp_path, "negatives"), 2, "stock.db cannot be read")
    assert list(snapshot(tmp_path)) == ["stock.db"] and (tmp_path / "stock.db").read_bytes() == content


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["agent", "--lang", "xx"], "--lang: 'xx' is none of en, es, vi, fr"),
        (["fly"], "'fly'"),
        ([], "COMMAND"),
        (["ask"], "question"),
        (["reproduce", "--runs", "0"], "--runs 0"),
        (["prepare", "--bogus"], "--bogus"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(words: list[str], part: str, tmp_path: Path) -> None:
    assert_one_line(cli("--outputs", tmp_path, *words), 2, part)


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("LLM_BASE_URL", "server:8080", "http"),
        ("LLM_BASE_URL", "http://", "http"),
        ("LLM_BASE_URL", "http://[::1", "http"),
        ("LLM_BASE_URL", "http://h:99999", "http"),
        ("LLM_TIMEOUT_S", "soon", "seconds"),
        ("LLM_TIMEOUT_S", "0", "seconds"),
        ("LLM_TIMEOUT_S", "nan", "seconds"),
        ("LLM_TIMEOUT_S", "2e6", "not a number of seconds between 0 and 1000000"),
        ("LLM_WAIT_S", "1000001", "not a number of seconds between 0 and 1000000"),
        ("LLM_BASE_URL", "http://127.0.0.1:0", "http"),
        ("LLM_API_KEY", "a\nb", "header"),
    ],
)
def test_a_wrong_variable_is_named(name: str, value: str, part: str, prepared: Path) -> None:
    setting: Any = {name: value}
    assert_one_line(cli("--outputs", prepared, "agent", **setting), 2, name, part)
    assert not (prepared / "agent.json").exists()


@pytest.mark.parametrize(
    "url",
    [
        "http://user:s3cr3t@127.0.0.1:1",
        "http://s3cr3t@127.0.0.1:1/v1",
        "http://127.0.0.1:1/?key=s3cr3t",
        "http://127.0.0.1:1/#s3cr3t",
        "user:s3cr3t@127.0.0.1",
        "http://user:s3cr3t@[::1",
    ],
)
def test_an_address_with_a_secret_in_it_is_refused_without_a_word_of_it(url: str, prepared: Path) -> None:
    for words in (["agent"], ["ask", "What is the stock level for REF-000?"]):
        ended = cli("--outputs", prepared, *words, LLM_BASE_URL=url, LLM_WAIT_S="0.1")
        assert_one_line(ended, 2, "LLM_BASE_URL", "LLM_API_KEY")
        assert "s3cr3t" not in ended.out + ended.err


def test_the_longest_wait_and_an_address_with_a_path_are_taken(prepared: Path) -> None:
    env: Any = {"LLM_BASE_URL": "http://127.0.0.1:1/below/v1/", "LLM_TIMEOUT_S": "1000000", "LLM_WAIT_S": "0.1"}
    assert_one_line(cli("--outputs", prepared, "agent", **env), 3, "http://127.0.0.1:1/below:", "connection refused")


def test_a_server_that_is_not_there_is_status_3_with_the_remedy(prepared: Path) -> None:
    with socket.socket() as taken:  # bound and not listening: nobody else can answer on it
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        for words in (["agent"], ["ask", "What is the stock level for REF-000?"]):
            ended = cli("--outputs", prepared, *words, LLM_BASE_URL=url, LLM_WAIT_S="0.2")
            assert_one_line(ended, 3, url, "connection refused", "add --embedded, or once: export R3_EMBEDDED=1")
    assert not [path.name for path in prepared.iterdir() if path.suffix in (".json", ".jsonl") and "agent" in path.name]


DAMAGED = [
    ("no query", lambda data: data["queries"].clear(), "queries"),
    ("no products", lambda data: data.pop("products"), "'products' is a required property"),
    ("lower case", lambda data: data["products"][3].update(ref="ref-003"), "products[3].ref"),
    ("final newline", lambda data: data["products"][3].update(ref="REF-003\n"), "products[3].ref"),
    ("text for a number", lambda data: data["products"][5].update(stock="9"), "products[5].stock"),
    ("negative stock", lambda data: data["products"][5].update(stock=-1), "products[5].stock"),
    ("fraction", lambda data: data["products"][5].update(stock=0.5), "products[5].stock"),
    ("true for a number", lambda data: data["products"][5].update(stock=True), "products[5].stock"),
    ("a whole number with a point", lambda data: data["products"][5].update(stock=5.0), "products[5].stock"),
    ("half a surrogate pair", lambda data: data["products"][5].update(name="\ud800"), "products[5].name"),
    ("half a pair in a question", lambda data: data["queries"][5].update(vi="\udfff?"), "queries[5].vi"),
    ("a name of a megabyte", lambda data: data["products"][5].update(name="P" * 1_000_000), "products[5].name"),
    ("unknown field", lambda data: data["products"][0].update(price=1), "price"),
    ("missing text", lambda data: data["queries"][2].pop("vi"), "'vi' is a required property"),
    ("repeated reference", lambda data: data["products"].append(data["products"][0]), "'REF-000' appears twice"),
    ("repeated id", lambda data: data["queries"][1].update(id=0), "id 0 appears twice"),
]


@pytest.mark.parametrize(("damage", "part"), [row[1:] for row in DAMAGED], ids=[row[0] for row in DAMAGED])
def test_damaged_data_names_the_record_and_the_rule(damage: Callable[[Any], object], part: str, tmp_path: Path) -> None:
    data = read(ROOT / "data" / "products.json")
    damage(data)
    path = tmp_path / "products.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    assert_one_line(cli("--outputs", tmp_path / "out", "prepare", "--data", path), 2, str(path), part)
    assert not (tmp_path / "out" / "stock.db").exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe{}", b"[" * 100_000])
def test_a_data_file_that_is_no_json_object_is_named(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "products.json"
    path.write_bytes(content)
    assert_one_line(cli("--outputs", tmp_path / "out", "prepare", "--data", path), 2, str(path))


def modules_after(*words: str | Path) -> set[str]:
    """The modules that a command has loaded when it ends."""
    code = (
        "import sys\nfrom src import cli\n"
        "try:\n    cli.main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print('\\nMODULES', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], cwd=ROOT, env=environment(), capture_output=True, text=True
    )
    return set(done.stdout.rsplit("MODULES", 1)[1].split())


def test_commands_that_need_no_model_do_not_load_its_packages(prepared: Path, tmp_path: Path) -> None:
    for words in (["--help"], ["negatives"], ["exercise"]):
        loaded = modules_after("--outputs", prepared, *words)
        assert not loaded & {*NEVER, "jsonschema"}, words
    assert not modules_after("--outputs", tmp_path / "new", "prepare") & NEVER
    assert (tmp_path / "new" / "stock.db").exists()


def test_the_public_suite_counts_14_on_the_standard_library_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-m", "unittest", "discover", "-s", "tests", "-v"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "Ran 14 tests" in done.stderr and done.stderr.endswith("\nOK\n"), done.stderr


def test_every_command_has_help_and_takes_the_common_options_on_either_side(prepared: Path) -> None:
    overview = cli("--help").out
    for command in ("prepare", "agent", "negatives", "evaluate", "exercise", "ask", "reproduce"):
        assert f"    {command}" in overview
        ended = cli(command, "--help")
        assert ended.status == 0 and "--outputs" in ended.out
    assert cli("negatives", "--outputs", prepared).status == 0


@pytest.mark.parametrize("columns", [60, 80])
def test_help_fits_the_terminal_except_for_commands_to_paste(columns: int) -> None:
    for name in ("", *COMMANDS.commands):
        below = cli(*name.split(), "--help", COLUMNS=str(columns)).out.partition("\n\n")[2]  # without the usage
        wide = [line for line in below.splitlines() if len(line) > columns]
        assert below and all("python -m" in line for line in wide), (name, wide)


def test_an_unknown_option_is_named_with_the_command_whose_help_lists_the_right_ones() -> None:
    said = "python -m src.cli agent: unrecognized arguments: --lnag es; see python -m src.cli agent --help\n"
    assert cli("agent", "--lnag", "es").err == said


def test_embedded_is_taken_by_every_command_and_shown_where_a_model_is_asked(prepared: Path) -> None:
    assert {entry.name for entry in COMMANDS.commands.values() if entry.asks_model} == {"agent", "ask", "reproduce"}
    for entry in COMMANDS.commands.values():
        shown = "--embedded" in cli(entry.name, "--help").out.partition("\n\n")[0]
        assert shown == entry.asks_model, entry.name
    assert cli("negatives", "--embedded", "--outputs", prepared).status == 0


def test_a_reader_that_has_seen_enough_ends_the_command_quietly(prepared: Path) -> None:
    line = f"{sys.executable} -m src.cli --outputs '{prepared}' negatives | head -n 1"
    done = subprocess.run(["sh", "-c", line], cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.count("\n") == 1


def test_a_terminal_without_accents_still_shows_the_refusals(prepared: Path) -> None:
    ended = cli("--outputs", prepared, "negatives", PYTHONIOENCODING="ascii")
    assert (ended.status, ended.err) == (0, "") and r"mal form\xe9" in ended.out


def test_a_terminal_without_signs_gets_others_that_differ_as_well(prepared: Path) -> None:
    ended = cli("--outputs", prepared, "reproduce", "--opening", PYTHONIOENCODING="ascii")
    assert "    + SELECT" in ended.out and r"    # Outil interdit ou appel mal form\xe9" in ended.out
    signs = [sign.translate(ASCII) for sign, _ in verdicts.OUTCOMES.values()]
    assert len(set(signs)) == len(signs) and "".join(signs).isascii()


def test_a_folder_that_cannot_be_written_is_named(prepared: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    ended = cli("--outputs", blocked / "below", "prepare")
    assert_one_line(ended, 2, str(blocked))
    assert stat.S_ISREG(blocked.stat().st_mode)


@pytest.mark.parametrize("program", ["src.cli", "src.run_sql"])
def test_both_programs_tell_their_version_and_guess_a_mistyped_command(program: str, tmp_path: Path) -> None:
    def told(*words: str) -> Ended:
        return forked.run(program, *words, env=environment())

    assert told("--version").out == f"r3 {__version__}\n"
    meant = {"src.cli": ("negativs", "negatives"), "src.run_sql": ("exercise", "exercises")}[program]
    assert told(meant[0]).err == (
        f"python -m {program}: argument COMMAND: there is no {meant[0]!r}; did you mean {meant[1]!r}?; "
        f"see python -m {program} --help\n"
    )
    assert "invalid choice: 'zzz'" in told("zzz").err


def test_the_second_lesson_takes_the_common_options_on_either_side(tmp_path: Path) -> None:
    def told(*words: str | Path) -> Ended:
        return forked.run("src.run_sql", *words, env=environment())

    assert told("create", "--outputs", tmp_path / "new").status == 0
    assert (tmp_path / "new" / "reservo.db").is_file()
    for words in (
        ("--outputs", tmp_path / "new", "query", "SELECT 1"),
        ("query", "SELECT 1", "--outputs", tmp_path / "new"),
    ):
        assert json.loads(told(*words).out)["rows"] == [[1]]
    failed = told("--debug", "--outputs", tmp_path / "none", "demo")
    assert failed.err.startswith("Traceback") and failed.err.splitlines()[-1].startswith("python -m src.run_sql demo")


def test_an_empty_folder_name_is_not_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert_one_line(cli("--outputs", "", "prepare"), 2, "argument --outputs: the name is empty")
    assert list(tmp_path.iterdir()) == []


def test_a_text_that_begins_with_a_dash_is_told_where_to_go() -> None:
    assert_one_line(cli("ask", "-REF-001?"), 2, "a text that begins with a dash goes after --")
    assert "dash" not in cli("negatives", "--nope").err


def test_too_little_memory_is_one_line(prepared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def large(*_: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr("src.runs.store.read_bytes", large)
    assert_one_line(cli("--outputs", prepared, "evaluate"), 2, "out of memory")


STRANGE = ["esc\x1b[31m", "a b", "a'b", "$(touch owned)", "tab\there", "back\\slash", "né", "new\nline"]


@pytest.mark.parametrize("name", few(STRANGE, 2))
def test_the_command_of_a_remedy_names_the_folder_and_no_other(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    told = cli("--outputs", folder, "negatives").err
    remedy = told.rstrip("\n").partition("build it with: ")[2]
    assert remedy.isprintable()
    subprocess.run(["bash", "-c", remedy], cwd=ROOT, env=environment(), capture_output=True, check=True)
    assert (folder / "stock.db").is_file() and [path.name for path in tmp_path.iterdir()] == [name]


def test_a_clone_can_be_tried_with_the_systems_python_alone(tmp_path: Path) -> None:
    def told(*words: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-S", "-m", "src.cli", "--outputs", str(tmp_path / "new"), *words]
        return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    broken = tmp_path / "broken.json"
    broken.write_text('{"products": [{"ref": "REF-1", "name": "x", "stock": 1}], "queries": []}', encoding="utf-8")
    refused = told("prepare", "--data", str(broken))
    assert refused.returncode == 2 and "products[0]: not a ref, a name and a stock" in refused.stderr
    assert not (tmp_path / "new" / "stock.db").exists()
    for command in ("prepare", "exercise", "negatives"):
        assert told(command).returncode == 0, command
    lacking = told("ask", "What is the stock level for REF-000?")
    assert (lacking.returncode, lacking.stdout) == (2, "") and lacking.stderr.count("\n") == 1
    assert "the package requests is missing from this Python; " in lacking.stderr


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Je ne sais pas. " * 8, "Je ne sais pas. … (the same 7 times more) "),
        ("Stock: 12. Stock: 12.", "Stock: 12. Stock: 12."),
        ("ha ha ha ha", "ha ha ha ha"),
        ("First. " + "La réponse est 3.\n\n" * 4 + "La", "First. La réponse est 3. … (the same 3 times more) La"),
        ("No idea. No idea.\n\n" * 3, "No idea. … (the same 5 times more) "),
        ("La référence de la référence de la référence de", "La référence de la référence de la référence de"),
        ("La" + " référence de la" * 9, "La référence de la … (the same 8 times more)"),
    ],
)
def test_what_a_model_repeats_is_shown_once(text: str, shown: str) -> None:
    assert stages.collapsed(text) == shown


@pytest.mark.parametrize("command", ["negatives", "exercise"])
def test_json_is_the_record_that_is_written_and_nothing_else(command: str, prepared: Path) -> None:
    ended = cli("--outputs", prepared, command, "--json", "--lang", "es")
    path = prepared / f"{command}.json"
    assert (ended.status, ended.out) == (0, path.read_text(encoding="utf-8"))
    assert ended.err.endswith(f"{path}\n") and json.loads(ended.out)["provenance"]


def test_json_of_a_check_that_fails_is_the_record_and_the_line_comes_after(
    prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = {"outil": "consulter_stock", "arguments": {"ref": "REF-000"}}
    for command in ("negatives", "exercise"):
        monkeypatch.setattr("src.cli.cases", [allowed])
        ended = cli("--outputs", prepared, command, "--json")
        assert ended.status == 1 and ended.out == (prepared / f"{command}.json").read_text(encoding="utf-8")
        assert ended.err.splitlines()[-1].startswith(f"python -m src.cli {command}: ")
