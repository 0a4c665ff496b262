"""Files that are not what their names say: pipes, links, folders in the place of what the program reads and writes.

Run alone with: python -m pytest tests/faults/test_files.py
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from src.wording import check
from tests.support import tally
from tests.support.faulty_server import serving
from tests.support.project import ROOT, Shop, environment, failed, succeeded

PIPES = {
    "agent.json": ["evaluate", "report"],
    "evaluation.json": ["report"],
    "negatives.json": ["report"],
    "agent.journal.jsonl": ["agent", "agent --resume"],
    "agent.journal.lock": ["agent"],
}


@pytest.fixture
def run(shop: Shop, whole_run: bytes) -> Shop:
    (shop.outputs / "agent.json").write_bytes(whole_run)
    return shop


@pytest.mark.parametrize(("name", "words"), [(name, words) for name, all_ in PIPES.items() for words in all_])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(name: str, words: str, run: Shop) -> None:
    path = run.outputs / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with serving() as server:
        run.url = server.url
        if name == "agent.journal.lock":
            succeeded(run.run(*words.split()))  # a pipe can be locked as well as a file
        else:
            failed(run.run(*words.split()), 2, name)
    tally.count("faults", "files: pipes")


@pytest.mark.parametrize("command", ["prepare", "agent", "evaluate", "reproduce"])
def test_a_pipe_as_data_is_not_waited_for(command: str, run: Shop, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "data.json")
    with serving() as server:
        run.url = server.url
        failed(run.run(command, "--data", str(tmp_path / "data.json")), 2, "not a regular file")
    failed(run.run(command, "--data", "/dev/zero"), 2, "not a regular file")
    tally.count("faults", "files: pipes", 2)


def test_a_link_in_the_place_of_the_lock_makes_no_file_elsewhere(run: Shop, tmp_path: Path) -> None:
    (run.outputs / "agent.journal.lock").symlink_to(tmp_path / "elsewhere")
    with serving() as server:
        run.url = server.url
        failed(run.run("agent"), 2, "agent.journal.lock")
    assert not (tmp_path / "elsewhere").exists()


def test_a_link_in_the_place_of_the_servers_log_is_replaced_and_not_followed(run: Shop, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (run.outputs / "embedded-server.log").symlink_to(precious)
    run.run("--embedded", "ask", "How many of REF-001?")  # with or without the model's file: the log comes first
    assert precious.read_text() == "mine"
    assert not (run.outputs / "embedded-server.log").is_symlink()


def test_reproduce_below_a_link_to_nowhere_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "not" / "mounted")
    with serving() as server:
        failed(Shop(tmp_path / "link", server.url).run("reproduce"), 2, "link")


def test_a_database_whose_record_cannot_be_written_does_not_stay(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "outputs")
    (shop.outputs / "prepare.json").mkdir(parents=True)
    failed(shop.run("prepare"), 2, "prepare.json")
    assert not shop.database.exists()
    (shop.outputs / "prepare.json").rmdir()
    succeeded(shop.run("prepare"))


def test_what_another_run_says_about_itself_is_shown_and_not_sent(run: Shop, tmp_path: Path) -> None:
    other = tmp_path / "other\x1b[31m"
    other.mkdir()
    theirs = run.read()
    theirs["provenance"]["python"] = "\x1b]0;owned\x07\x1b[2J"
    (other / "agent.json").write_text(json.dumps(theirs))
    told = succeeded(run.run("evaluate", "--against", str(other)))  # which also looks for what is not printable
    assert "\\x1b]0;owned" in told and "against other\\x1b[31m" in told


def test_a_sentence_without_end_is_judged_by_its_beginning_and_counts_as_cut() -> None:
    text = "37 " + "1 1,1.1 " * 500_000
    found = check.faults(text, {"ref": "REF-001", "name": "Produit 1", "stock": 37}, "REF-001")
    assert "cut" in found and "unsupported_number" in found
    assert check.faults("37", {"ref": "REF-001", "name": "Produit 1", "stock": 37}, "REF-001") == []


def test_a_wrong_variable_of_the_progress_bar_is_no_traceback() -> None:
    code = "from src.base import progress; progress.bar(total=3).close()"
    env = environment(TQDM_NCOLS="abc", TQDM_MININTERVAL="x")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_current_folder_that_was_deleted_is_no_traceback(run: Shop, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    line = f'cd {tmp_path}/gone && rmdir ../gone && exec {sys.executable} -m src.cli --outputs "$1" negatives'
    env = environment(PYTHONPATH=str(ROOT))
    done = subprocess.run(
        ["sh", "-c", line, "sh", str(run.outputs)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
