"""A run that is cut short in every way keeps what was finished, and `agent --resume` finishes the rest.

Run alone with: python -m pytest tests/survival
"""

import errno
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from src.runs import store
from tests.support import tally
from tests.support.faulty_server import (
    FaultyServer,
    Request,
    Step,
    completion,
    hang_up,
    http,
    reset,
    send,
    serving,
    wait,
)
from tests.support.inprocess import Ended
from tests.support.project import Shop, failed, snapshot, succeeded

KILLS = [4, pytest.param(50, marks=pytest.mark.kill)]
QUESTIONS = 30
DIES_AT = 17


def stops_at(question: int, step: Step = hang_up) -> Callable[[Request], Sequence[Step] | None]:
    """A plan whose server hangs up on everything from the first generation of this question on (counted from 0)."""
    asked = 0

    def plan(request: Request) -> Sequence[Step] | None:
        nonlocal asked
        if request.stage == "proposal":
            asked += 1
        return [step] if asked > question and request.stage else None

    return plan


def blocks_at(question: int, reached: threading.Event) -> Callable[[Request], Sequence[Step] | None]:
    """A plan whose server falls silent at this question and says so to the test."""
    asked = 0

    def plan(request: Request) -> Sequence[Step] | None:
        nonlocal asked
        asked += request.stage == "proposal"
        if asked <= question:
            return None
        reached.set()
        return [wait(30)]

    return plan


def whole_json(folder: Path) -> None:
    """Every JSON file in the folder is whole."""
    for path in folder.glob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))


def complete(shop: Shop) -> Any:
    """Check that the run is complete: one result for each question, in order, none failed."""
    run = shop.read()
    assert [result["id"] for result in run["results"]] == list(range(QUESTIONS))
    assert run["complete"] is True and run["unchanged"] is True
    assert not [result["error"] for result in run["results"] if result["error"]]
    return run


def interrupted(shop: Shop, at: int = DIES_AT) -> None:
    """Leave a run behind whose server died at this question."""
    with serving(stops_at(at)) as server:
        shop.url = server.url
        failed(shop.run("agent"), 3, f"{at} of 30 results are kept")


@pytest.mark.parametrize("step", [hang_up, reset], ids=["closed", "reset"])
def test_a_server_that_dies_at_question_17_costs_nothing_that_was_finished(step: Step, shop: Shop) -> None:
    with serving(stops_at(DIES_AT, step)) as server:
        shop.url = server.url
        failed(shop.run("agent"), 3, "3 transport failures in a row: .*; 17 of 30 results are kept.*--resume")
        assert len(server.asked("proposal")) == DIES_AT + 3
    run = shop.read()
    assert run["complete"] is False
    assert [result["id"] for result in run["results"] if result["error"] is None] == list(range(DIES_AT))
    with serving() as server:
        shop.url = server.url
        told = succeeded(shop.run("agent", "--resume"))
        assert len(server.asked("proposal")) == QUESTIONS - DIES_AT
    assert "resuming: 17 results kept, 13 questions to ask" in told
    run = complete(shop)
    assert (run["resumed"], run["kept"]) == (True, DIES_AT)
    assert not (shop.outputs / "agent.journal.jsonl").exists()
    tally.count("survival", "server dies at question 17")


def test_a_server_that_dies_at_the_last_questions_leaves_a_run_that_is_not_complete(shop: Shop) -> None:
    """The third failure in a row is that of the last question: every question was tried, and not every one answered."""
    with serving(stops_at(QUESTIONS - 3)) as server:
        shop.url = server.url
        failed(shop.run("agent"), 3, "27 of 30 results are kept")
    assert shop.read()["complete"] is False and len(shop.read()["results"]) == QUESTIONS - 3
    with serving() as server:
        shop.url = server.url
        assert "resuming: 27 results kept, 3 questions to ask" in succeeded(shop.run("agent", "--resume"))
    complete(shop)
    tally.count("survival", "server dies at question 28")


def test_what_is_said_to_be_kept_is_what_resume_keeps(shop: Shop) -> None:
    """Two failures in transport, each alone, then the end of the run: neither counts as kept."""
    reached = threading.Event()
    blocks = blocks_at(12, reached)

    def plan(request: Request) -> Sequence[Step] | None:
        lost = request.stage == "proposal" and len(server.asked("proposal")) in (3, 7)
        return blocks(request) or ([hang_up] if lost else None)

    with serving(plan) as server:
        shop.url = server.url
        process = shop.start("agent")
        assert reached.wait(30)
        process.send_signal(signal.SIGINT)
        ended = process.ended(60)
        failed(ended, 1, "10 of 30 results are kept")
    with serving() as server:
        shop.url = server.url
        assert "resuming: 10 results kept, 20 questions to ask" in succeeded(shop.run("agent", "--resume"))
    complete(shop)


def test_a_question_lost_on_the_way_in_a_run_that_went_on_can_be_asked_again(shop: Shop) -> None:
    def plan(request: Request) -> Sequence[Step] | None:
        return [hang_up] if request.stage == "proposal" and len(server.asked("proposal")) == 7 else None

    with serving(plan) as server:
        shop.url = server.url
        told = succeeded(shop.run("agent"))
    assert re.search(r"lost on the way to the server: 1; ask again with: LLM_BASE_URL=\S+ \S*python -m src\.cli", told)
    assert [result["id"] for result in shop.read()["results"] if result["error"]] == [6]
    with serving() as server:
        shop.url = server.url
        assert "resuming: 29 results kept, 1 questions to ask" in succeeded(shop.run("agent", "--resume"))
        assert len(server.asked("proposal")) == 1
    complete(shop)
    assert not (shop.outputs / "agent.journal.jsonl").exists()


def test_a_disk_that_takes_not_even_the_journal_is_not_told_to_resume(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str) -> Path:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(store, "write_text", full)
    with serving() as server:
        shop.url = server.url
        ended = shop.run("agent")
        failed(ended, 2, "the results cannot be written; free some space; nothing was asked yet: give the same")
        assert "--resume" not in ended.err and not server.asked("proposal")


def test_a_process_that_is_gone_altogether_is_noticed(shop: Shop) -> None:
    """The port is closed, as after the death of the server's process."""
    reached = threading.Event()
    with serving(blocks_at(5, reached)) as server:
        shop.url, shop.env["LLM_TIMEOUT_S"] = server.url, "1"
        process = shop.start("agent")
        assert reached.wait(30)
        server.socket.close()
    ended = process.ended(60)
    failed(ended, 3, "connection refused")
    assert len(shop.read()["results"]) == 5  # not the three that nobody was there to answer


def test_two_failures_in_a_row_do_not_end_a_run(shop: Shop) -> None:
    def two(request: Request) -> Sequence[Step] | None:
        broken = any(ref in request.asked for ref in ("REF-007", "REF-012"))
        return [hang_up] if request.stage == "proposal" and broken else None

    with serving(two) as server:
        shop.url = server.url
        succeeded(shop.run("agent"))
    run = shop.read()
    assert [result["id"] for result in run["results"] if result["error"]] == [1, 2] and run["complete"] is True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_signal_ends_in_one_line_and_keeps_what_was_finished(number: signal.Signals, shop: Shop) -> None:
    reached = threading.Event()
    with serving(blocks_at(9, reached)) as server:
        shop.url, shop.env["LLM_TIMEOUT_S"] = server.url, "60"
        process = shop.start("agent")
        assert reached.wait(30)
        process.send_signal(number)
        ended = process.ended(30)
    line = failed(ended, 1, "interrupted")
    assert "9 of 30 results are kept" in line and "--resume" in line
    assert ("SIGTERM" in line) is (number == signal.SIGTERM)
    assert [result["id"] for result in shop.read()["results"]] == list(range(9))
    with serving() as server:
        shop.url = server.url
        succeeded(shop.run("agent", "--resume"))
    assert complete(shop)["kept"] == 9
    tally.count("survival", f"signal {number.name}")


@pytest.mark.parametrize("command", ["ask", "agent"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_signal_while_waiting_for_the_server_ends_in_one_line(
    number: signal.Signals, command: str, shop: Shop
) -> None:
    shop.env["LLM_WAIT_S"] = "60"
    reached = threading.Event()

    def plan(_: Request) -> Sequence[Step]:
        reached.set()
        return [hang_up]

    with serving(plan) as server:
        shop.url = server.url
        process = shop.start(command, *(["REF-001?"] if command == "ask" else []))
        assert reached.wait(30)
        process.send_signal(number)
        ended = process.ended(30)
    failed(ended, 1, "interrupted")
    tally.count("survival", f"signal {number.name}")


def kill_at_random(shop: Shop, server: FaultyServer, chance: random.Random, *args: str) -> bool:
    """Kill `agent` when a random number of requests came, or a random moment later; whether it was in time."""
    goal, pause = len(server.requests) + chance.randrange(3, 62), chance.random() * 0.01
    reached, before = threading.Event(), server.plan

    def plan(request: Request) -> Sequence[Step] | None:
        if len(server.requests) >= goal:
            reached.set()
        return before(request)

    server.plan = plan
    process = shop.start("agent", *args)
    try:
        while process.poll() is None and not reached.wait(0.005):
            pass
        threading.Event().wait(pause)
        in_time = process.poll() is None
    finally:
        process.kill()
        process.ended()
        server.plan = before
    return in_time


@pytest.mark.parametrize("kills", KILLS)
def test_kill_9_at_random_moments_and_resume_always_gives_30_results(kills: int, shop: Shop) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    chance, in_time, kept = random.Random(seed), 0, []
    with serving() as server:
        shop.url = server.url
        for round_ in range(kills):
            # Every second round a killed run is resumed, and that run is killed as well.
            resuming = (shop.outputs / "agent.journal.jsonl").exists() and round_ % 2 == 1
            in_time += kill_at_random(shop, server, chance, *(["--resume"] if resuming else []))
            whole_json(shop.outputs)
            if round_ % 2 == 1 and (shop.outputs / "agent.journal.jsonl").exists():
                succeeded(shop.run("agent", "--resume"))
                kept.append(complete(shop)["kept"])
            elif round_ % 2 == 1:
                complete(shop)
            assert not list(shop.outputs.glob(".agent*.tmp")) or round_ % 2 == 0
    assert kills < 10 or (in_time > kills // 2 and len(set(kept)) > 3), (in_time, kept)
    tally.count("survival", "kill -9", kills)
    tally.count("survival", "kill -9: in the middle of the run", in_time)
    tally.count("survival", "kill -9: resumed to 30 results", len(kept))


def test_a_reader_that_closes_the_output_does_not_end_the_run_without_a_word(shop: Shop) -> None:
    with serving() as server:
        shop.url = server.url
        process = shop.start("agent")

        process.stdout.close()
        err = process.stderr.read()
    done = Ended(process.wait(30), "", err)
    failed(done, 1, "closed the output; [0-9]+ of 30 results are kept")
    with serving() as server:
        shop.url = server.url
        succeeded(shop.run("agent", "--resume"))
    complete(shop)


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[bool]:
    """A file system of that size on `folder` while the block runs; false where this user may not mount one."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        yield subprocess.run(command, check=False, capture_output=True).returncode == 0
    finally:
        if folder.is_mount():  # also where Ctrl-C came before the command that mounts it ended
            subprocess.run(["umount", "-l", str(folder)], check=True)


def run_in(shop: Shop, mounted: bool, left: int, *args: str) -> Ended:
    """Run a command with so many bytes left on the disk; without a disk of our own no file may grow beyond them."""

    def limit() -> None:
        if not mounted:
            resource.setrlimit(resource.RLIMIT_FSIZE, (left, left))

    if mounted:
        state = os.statvfs(shop.outputs)
        (shop.outputs / "ballast").write_bytes(b"x" * (state.f_bavail * state.f_frsize - left))
    command, env = shop.command(*args), shop.environment()
    done = subprocess.run(
        command,
        cwd=shop.root,
        env=env,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        preexec_fn=limit,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def long_answer(request: Request) -> Sequence[Step] | None:
    """Answers of 10 kB, so that the space ends in the middle of the run."""
    return [send(http(completion("é" * 5000)))] if request.stage == "answer" else None


@pytest.mark.parametrize("left", [0, 30_000, 200_000])
def test_a_full_disk_ends_in_one_line_and_keeps_what_was_finished(left: int, tmp_path: Path, prepared: Path) -> None:
    shop = Shop(tmp_path / "small")
    with small_disk(shop.outputs, "1m") as mounted, serving(long_answer) as server:
        shutil.copy(prepared, shop.database)
        shop.url = server.url
        done = run_in(shop, mounted, left, "agent")
        failed(done, 2, "No space left on device|File too large")
        assert shop.database.read_bytes() == prepared.read_bytes()
        whole_json(shop.outputs)
        assert not list(shop.outputs.glob(".*.tmp"))
        journal = shop.outputs / "agent.journal.jsonl"
        finished = max(0, journal.read_bytes().count(b"\n") - 1) if journal.exists() else 0
        assert bool(finished) is (left > 20_000)
        if finished:
            assert f"{finished} of 30 results are kept" in done.err
        (shop.outputs / "ballast").unlink(missing_ok=True)
        succeeded(shop.run("agent", *(["--resume"] if finished else [])))
        assert complete(shop)["kept"] == finished
    tally.count("survival", "full disk")


@pytest.mark.parametrize("command", ["prepare", "negatives", "exercise", "evaluate"])
def test_a_full_disk_stops_every_other_command_in_one_line(command: str, tmp_path: Path, prepared: Path) -> None:
    shop = Shop(tmp_path / "small")
    with small_disk(shop.outputs, "1m") as mounted:
        if command != "prepare":
            shutil.copy(prepared, shop.database)
        if command == "evaluate":
            with serving() as server:
                shop.url = server.url
                succeeded(shop.run("agent"))
        kept = snapshot(shop.outputs)
        failed(run_in(shop, mounted, 0, command), 2, "No space|full|File too large|disk I/O")
        (shop.outputs / "ballast").unlink(missing_ok=True)
        assert snapshot(shop.outputs) == kept
    tally.count("survival", "full disk")


def test_an_output_that_takes_nothing_ends_in_one_line(shop: Shop) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            shop.command("exercise"),
            cwd=shop.root,
            env=shop.environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
    failed(Ended(done.returncode, "", done.stderr), 2, "No space left")


def test_two_runs_at_once_do_not_disturb_each_other(shop: Shop) -> None:
    reached = threading.Event()
    with serving(blocks_at(12, reached)) as first:
        shop.url, shop.env["LLM_TIMEOUT_S"] = first.url, "60"
        process = shop.start("agent")
        assert reached.wait(30)
        journal = (shop.outputs / "agent.journal.jsonl").read_bytes()
        with serving() as server:
            other = Shop(shop.outputs, server.url)
            for args in ([], ["--resume"]):
                failed(other.run("agent", *args), 2, "another run is writing .*agent.journal.jsonl")
            assert not server.asked("proposal")
        assert (shop.outputs / "agent.journal.jsonl").read_bytes() == journal
        process.send_signal(signal.SIGINT)
        process.ended(30)
    assert len(shop.read()["results"]) == 12
    tally.count("survival", "two runs at once", 2)
