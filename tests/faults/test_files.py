"""Files that are not what their names say: pipes, links, folders in place of what the program reads and writes.

Run alone with: python -m pytest tests/faults/test_files.py
"""

import errno
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from src.base import disk
from src.wording import check
from tests.support import tally
from tests.support.faulty_server import serving
from tests.support.project import ROOT, Shop, environment, failed, succeeded

PIPES = {
    "agent.json": ["evaluate", "report"],
    "evaluation.json": ["report"],
    "negatives.json": ["report"],
    "agent.journal.jsonl": ["agent", "agent --resume"],
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


def test_a_lock_leaves_no_file_and_an_old_one_of_any_mode_is_in_nobodys_way(run: Shop, tmp_path: Path) -> None:
    """The given input is a lock file of mode 000, which earlier versions left; a link and a folder are its likes."""
    lock = run.outputs / "agent.journal.lock"
    with serving() as server:
        run.url = server.url
        succeeded(run.run("agent"))
        assert not lock.exists()
        lock.touch(0o000)
        succeeded(run.run("agent"))
        lock.unlink()
        lock.symlink_to(tmp_path / "elsewhere")
        succeeded(run.run("agent"))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EBADF])
def test_a_file_system_without_locks_is_noted_and_the_work_goes_on(
    number: int, run: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", lacking)
    with serving() as server:
        run.url = server.url
        told = succeeded(run.run("agent"))
    assert f"cannot be locked ({os.strerror(number)})" in told
    assert run.read()["complete"] is True


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS, errno.ENOTSUP])
def test_a_file_system_that_forces_nothing_to_the_disk_is_written_to(
    number: int, run: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", lacking)
    succeeded(Shop(run.outputs.parent / "new").run("prepare"))
    with serving() as server:
        run.url = server.url
        succeeded(run.run("agent"))


def test_a_disk_that_breaks_while_forcing_still_ends_the_run(run: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    with serving() as server:
        run.url = server.url
        failed(run.run("agent"), 2, "Input/output error")


def test_free_space_that_nobody_counts_is_no_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    assert disk.free(tmp_path) == pytest.approx(usage.free, rel=0.2)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: type(usage)(0, 0, 0))
    assert disk.free(tmp_path) == float("inf")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("agent.json", ["evaluate"]),
        ("evaluation.json", ["report"]),
        ("agent.journal.jsonl", ["agent"]),
        ("report.html", ["report"]),
        ("negatives.json", ["negatives"]),
    ],
)
def test_a_folder_in_the_place_of_a_file_is_reported_by_its_name(name: str, words: list[str], run: Shop) -> None:
    (run.outputs / name).unlink(missing_ok=True)
    (run.outputs / name).mkdir()
    with serving() as server:
        run.url = server.url
        line = failed(run.run(*words), 2, re.escape(name))
    assert ".tmp" not in line  # the draft that could not take its place


def test_a_bound_on_the_size_of_files_is_named_where_the_database_is_built(tmp_path: Path) -> None:
    command = ["bash", "-c", 'ulimit -f 4; exec "$@"', "bash", *Shop(tmp_path / "x").command("prepare")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "files may not be that large here (ulimit -f): raise it" in done.stderr
    assert not (tmp_path / "x" / "stock.db").exists()


@pytest.mark.parametrize("command", ["prepare", "negatives", "agent"])
def test_a_folder_in_the_place_of_the_database_is_neither_missing_nor_a_copy(command: str, tmp_path: Path) -> None:
    (tmp_path / "stock.db").mkdir()
    failed(Shop(tmp_path).run(command), 2, "stock.db is no file; something else is in its place: move it away")


@pytest.mark.parametrize("command", ["prepare", "negatives", "exercise", "agent"])
def test_a_link_to_nothing_in_the_place_of_the_database_is_called_what_it_is(command: str, tmp_path: Path) -> None:
    (tmp_path / "stock.db").symlink_to("nowhere")
    line = failed(Shop(tmp_path).run(command), 2, "stock.db is a link to something that is not there")
    assert "is missing" not in line and "exists" not in line


def test_a_link_to_nothing_in_the_place_of_the_folder_has_its_own_remedy(tmp_path: Path) -> None:
    (tmp_path / "results").symlink_to("nowhere")
    failed(Shop(tmp_path / "results").run("prepare"), 2, "results; a file, or a link to nothing, is in the place")


def test_a_bound_on_the_size_of_files_is_not_a_file_in_use(run: Shop) -> None:
    command = ["bash", "-c", 'ulimit -f 1; exec "$@"', "bash", *run.command("evaluate")]
    done = subprocess.run(command, cwd=ROOT, env=run.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "ulimit -f" in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_a_link_in_the_place_of_the_servers_log_is_replaced_and_not_followed(
    run: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (run.outputs / "embedded-server.log").symlink_to(precious)
    monkeypatch.setattr(sys, "executable", shutil.which("false"))  # a server that ends at once: the log comes first
    failed(run.run("--embedded", "ask", "How many of REF-001?"), 3, "embedded-server.log")
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
