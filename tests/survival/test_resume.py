"""`--resume` mixes nothing, and neither it nor `evaluate` falls over a file that is damaged, foreign or made up.

Run alone with: python -m pytest tests/survival/test_resume.py
"""

import hashlib
import json
import operator
import random
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support import tally
from tests.support.depth import spread
from tests.support.faulty_server import Request, good, hang_up, http, send, serving
from tests.support.project import ROOT, Shop, failed, succeeded
from tests.survival.test_interruption import DIES_AT, QUESTIONS, complete, interrupted, stops_at

JOURNAL = "agent.journal.jsonl"


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Path:
    """The folder of a run whose server died at question 17."""
    folder = tmp_path_factory.mktemp("left")
    shutil.copy(prepared, folder / "stock.db")
    interrupted(Shop(folder))
    return folder


@pytest.fixture
def broken_off(shop: Shop, left_behind: Path) -> Shop:
    for name in (JOURNAL, "agent.json"):
        shutil.copy(left_behind / name, shop.outputs / name)
    return shop


def other_model(request: Request) -> Any:
    if request.path != "/v1/models":
        return None
    return [send(http(b'{"data":[{"id":"another","tags":["cpu"]}]}'))]


def nameless(request: Request) -> Any:
    """A server of several models whose replies do not say which one answered."""
    if request.path == "/v1/models":
        return [send(http(b'{"data":[{"id":"a"},{"id":"b"}]}'))]
    if request.path == "/props":
        return [send(http(b"{}", "404 Not Found"))]
    body = good(request).partition(b"\r\n\r\n")[2]
    return [send(http(body.replace(b'"model": "stand-in", ', b"")))] if request.stage else None


def test_a_run_asked_of_one_model_is_not_finished_by_another(shop: Shop) -> None:
    shop.env["LLM_MODEL"] = "a"
    dies = stops_at(DIES_AT)
    with serving(lambda request: dies(request) or nameless(request)) as server:
        shop.url = server.url
        failed(shop.run("agent"), 3, "17 of 30 results are kept")
    assert shop.read()["provenance"]["server"]["model"] == "a"
    with serving(nameless) as server:
        shop.url, shop.env["LLM_MODEL"] = server.url, "b"
        failed(shop.run("agent", "--resume"), 2, "made under different conditions: server.")
        assert not server.asked("proposal")
    tally.count("survival", "resume under other conditions")


def other_build(request: Request) -> Any:
    body = b'{"total_slots":1,"build_info":"b2","model_alias":"stand-in"}'
    return [send(http(body))] if request.path == "/props" else None


@pytest.mark.parametrize("plan", [other_model, other_build], ids=["model", "build"])
def test_another_model_is_refused_and_nothing_is_asked(plan: Any, broken_off: Shop) -> None:
    before = (broken_off.outputs / JOURNAL).read_bytes(), (broken_off.outputs / "agent.json").read_bytes()
    with serving(plan) as server:
        broken_off.url = server.url
        failed(broken_off.run("agent", "--resume"), 2, "made under different conditions: server.")
        assert not server.asked("proposal")
    assert before == ((broken_off.outputs / JOURNAL).read_bytes(), (broken_off.outputs / "agent.json").read_bytes())
    tally.count("survival", "resume under other conditions")


@pytest.mark.parametrize("name", ["language", "data", "database"])
def test_another_language_data_or_database_is_refused(name: str, broken_off: Shop, tmp_path: Path) -> None:
    args = []
    original = broken_off.database.read_bytes()
    if name == "language":
        args = ["--lang", "vi"]
    if name == "data":
        other = tmp_path / "products.json"
        other.write_text((ROOT / "data" / "products.json").read_text() + " ")
        args = ["--data", str(other)]
    if name == "database":
        import sqlite3

        db = sqlite3.connect(broken_off.database)
        with db:
            db.execute("UPDATE products SET stock=stock+1")
        db.close()
    with serving() as server:
        broken_off.url = server.url
        failed(broken_off.run("agent", "--resume", *args), 2, f"made under different conditions: {name}")
        assert not server.asked("proposal")
    broken_off.database.write_bytes(original)
    tally.count("survival", "resume under other conditions")


def test_a_model_that_changes_within_a_run_fails_the_run(shop: Shop) -> None:
    from tests.support.faulty_server import completion

    def plan(request: Request) -> Any:
        late = request.stage == "answer" and request.number > 30
        return [send(http(completion("Stock: 1", model="another").replace(b"stand-in", b"", 1)))] if late else None

    with serving(plan) as server:
        shop.url = server.url
        failed(shop.run("agent"), 1, "two of model, another and stand-in")


def test_nothing_to_resume_is_said(shop: Shop) -> None:
    with serving() as server:
        shop.url = server.url
        failed(shop.run("agent", "--resume"), 2, "holds no interrupted run")
        assert not server.asked("proposal")


def test_a_new_run_keeps_the_old_one_under_another_name(broken_off: Shop) -> None:
    old = (broken_off.outputs / JOURNAL).read_bytes()
    with serving() as server:
        broken_off.url = server.url
        assert "agent.interrupted.jsonl" in succeeded(broken_off.run("agent"))
        complete(broken_off)
        (broken_off.outputs / JOURNAL).write_bytes(old[: len(old) // 2])
        assert "agent.interrupted-2.jsonl" in succeeded(broken_off.run("agent"))
    assert (broken_off.outputs / "agent.interrupted.jsonl").read_bytes() == old


def test_an_interrupted_run_does_not_take_the_place_of_a_complete_one(shop: Shop) -> None:
    with serving() as server:
        shop.url = server.url
        succeeded(shop.run("agent"))
    whole = (shop.outputs / "agent.json").read_bytes()
    interrupted(shop)
    assert (shop.outputs / "agent.previous.json").read_bytes() == whole
    assert shop.read()["complete"] is False


def lines_of(journal: bytes) -> list[bytes]:
    return journal.split(b"\n")[:-1]


def signed(body: bytes) -> bytes:
    """A journal line with this entry, its checksum right: what a person who edits the file would have to write."""
    return b'{"sha256":"%s","entry":%s}' % (hashlib.sha256(body).hexdigest().encode(), body)


def edit(line: bytes, change: Callable[[Any], object]) -> bytes:
    entry = json.loads(line)["entry"]
    change(entry)
    return signed(json.dumps(entry).encode())


def with_line(place: int, change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def damage(journal: bytes) -> bytes:
        lines = lines_of(journal)
        lines[place] = change(lines[place])
        return b"\n".join([*lines, b""])

    return damage


# What was done to the journal, and how many of its 17 finished results are still to be used.
DAMAGE: dict[str, tuple[Callable[[bytes], bytes], int]] = {
    "last line torn": (lambda j: b"\n".join(lines_of(j)[:17]) + b"\n" + lines_of(j)[17][:99], 16),
    "a line in the middle zeroed": (with_line(5, lambda line: b"\0" * len(line)), 16),
    "a line in the middle torn": (with_line(5, lambda line: line[: len(line) // 2]), 16),
    "a newline lost": (lambda j: j.replace(b"\n" + lines_of(j)[7], lines_of(j)[7]), 15),
    "empty lines between": (lambda j: j.replace(b"\n", b"\n\n\n"), 17),
    "a line repeated": (lambda j: j + lines_of(j)[3] + b"\n", 17),
    "no UTF-8": (with_line(4, lambda line: line.replace(b"REF", b"R\xffF")), 16),
    "nested": (with_line(4, lambda _: signed(b"[" * 100_000)), 16),
    "a digit changed": (with_line(4, lambda line: line.replace(b'"stock": ', b'"stock": 1')), 16),
    "a figure changed": (with_line(4, lambda line: re.sub(rb'"seconds": [0-9]', b'"seconds": 9', line)), 16),
    "a letter of the answer changed": (with_line(4, lambda line: line.replace(b"Stock", b"Stack")), 16),
    "a checksum of capitals": (with_line(4, lambda line: line[:11] + line[11:75].upper() + line[75:]), 16),
    "a checksum of another line": (lambda j: j.replace(lines_of(j)[4][11:75], lines_of(j)[5][11:75]), 16),
    "no checksum": (with_line(4, lambda line: json.dumps(json.loads(line)["entry"]).encode()), 16),
    "not a number": (with_line(4, lambda line: edit(line, lambda e: e["result"].update(seconds=float("nan")))), 16),
    "huge time": (with_line(4, lambda line: edit(line, lambda e: e["result"].update(seconds=1e300))), 16),
    "another question's id": (with_line(4, lambda line: edit(line, lambda e: e["result"].update(id=29))), 16),
    "an id that is no number": (with_line(4, lambda line: edit(line, lambda e: e["result"].update(id=[]))), 16),
    "an id true": (with_line(2, lambda line: edit(line, lambda e: e["result"].update(id=True))), 16),
    "an unknown id": (with_line(4, lambda line: edit(line, lambda e: e["result"].update(id=4000))), 16),
    "another text": (with_line(4, lambda line: edit(line, lambda e: e["result"].update(query="?"))), 16),
    "no trace": (with_line(4, lambda line: edit(line, lambda e: e["result"].pop("trace"))), 16),
    "a trace of text": (with_line(4, lambda line: edit(line, lambda e: e["result"].update(trace="x"))), 16),
    "an answer of text": (with_line(4, lambda line: edit(line, lambda e: e["result"].update(answer="x"))), 16),
    "a result of text": (with_line(4, lambda line: edit(line, lambda e: e.update(result="x"))), 16),
    "a number": (with_line(4, lambda _: signed(b"42")), 16),
    "null": (with_line(4, lambda _: signed(b"null")), 16),
}
FOREIGN: dict[str, bytes] = {
    "empty lines": b"\n\n",
    "zeros": b"\0" * 4096,
    "text": b"hello\nworld\n",
    "other JSON": b'{"level":"info"}\n{"level":"info"}\n',
    "an array": signed(b"[]") + b"\n",
    "identity of text": signed(b'{"identity":"x"}') + b"\n",
    "identity null": signed(b'{"identity":null}') + b"\n",
    "identity empty": signed(b'{"identity":{}}') + b"\n",
    "identity without checksum": b'{"identity":{}}\n',
    "nested": signed(b"[" * 100_000) + b"\n",
    "binary": bytes(range(256)) * 16,
    "torn header": b'{"identity": {"ser',
}


@pytest.mark.parametrize("name", spread(DAMAGE, 8))
def test_a_damaged_line_costs_its_own_question_and_no_other(name: str, broken_off: Shop) -> None:
    damage, usable = DAMAGE[name]
    journal = broken_off.outputs / JOURNAL
    whole = journal.read_bytes()
    journal.write_bytes(damage(whole))
    assert journal.read_bytes() != whole
    with serving() as server:
        broken_off.url = server.url
        told = succeeded(broken_off.run("agent", "--resume"))
        assert len(server.asked("proposal")) == QUESTIONS - usable
    assert f"resuming: {usable} results kept" in told
    assert complete(broken_off)["kept"] == usable
    tally.count("survival", "damaged journal")


@pytest.mark.parametrize("name", FOREIGN)
def test_a_journal_of_another_program_is_refused_and_left_alone(name: str, shop: Shop) -> None:
    journal = shop.outputs / JOURNAL
    journal.write_bytes(FOREIGN[name])
    with serving() as server:
        shop.url = server.url
        failed(shop.run("agent", "--resume"), 2, "is not a journal of this program|holds no interrupted run|another")
        assert not server.asked("proposal")
    assert journal.read_bytes() == FOREIGN[name]
    tally.count("survival", "foreign journal")


def test_an_empty_journal_holds_nothing(shop: Shop) -> None:
    (shop.outputs / JOURNAL).touch()
    with serving() as server:
        shop.url = server.url
        failed(shop.run("agent", "--resume"), 2, "holds no interrupted run")
        succeeded(shop.run("agent"))
    complete(shop)


def test_bytes_changed_at_random_never_break_a_resume(broken_off: Shop, left_behind: Path) -> None:
    chance, text = random.Random(4), (left_behind / JOURNAL).read_bytes()
    header = text.index(b"\n") + 1
    with serving() as server:
        broken_off.url = server.url
        for _ in range(8):
            damaged = bytearray(text)
            for _ in range(chance.randrange(1, 40)):
                damaged[chance.randrange(header, len(text))] = chance.randrange(256)
            (broken_off.outputs / JOURNAL).write_bytes(damaged)
            left = bytes(damaged).split(b"\n")
            usable = sum(line in left for line in lines_of(text)[1:] if b'"transport_failure": false' in line)
            succeeded(broken_off.run("agent", "--resume"))
            assert complete(broken_off)["kept"] == usable
    tally.count("survival", "damaged journal", 8)


def changed(change: Callable[[Any], object]) -> Callable[[bytes], bytes]:
    def damage(text: bytes) -> bytes:
        run = json.loads(text)
        change(run)
        return json.dumps(run).encode()

    return damage


def without(key: str, run: Any) -> None:
    del run["results"][3][key]


WRONG_RUN: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut": lambda text: text[: len(text) // 2],
    "binary": lambda _: bytes(range(256)),
    "zeros": lambda text: b"\0" * len(text),
    "nested": lambda _: b"[" * 100_000,
    "digits": lambda _: b"9" * 5000,
    "array": lambda _: b"[]",
    "object": lambda _: b"{}",
    "null": lambda _: b"null",
    "number": lambda _: b"42",
    "text": lambda _: b'"run"',
    "products": lambda _: (ROOT / "data" / "products.json").read_bytes(),
    **{
        f"without {key}": changed(operator.methodcaller("pop", key))
        for key in ("provenance", "complete", "results", "digest_before", "digest_after", "unchanged")
    },
    **{
        f"result without {key}": changed(partial(without, key))
        for key in ("id", "query", "proposal", "trace", "answer", "error", "seconds")
    },
    "results object": changed(lambda run: run.update(results={})),
    "results null": changed(lambda run: run.update(results=[None])),
    "no results": changed(lambda run: run.update(results=[])),
    "result without ref": changed(lambda run: run["results"][4].pop("ref")),
    "result about another ref": changed(lambda run: run["results"][4].update(ref="REF-001")),
    "result of another text": changed(lambda run: run["results"][4].update(query="?")),
    "an unknown id": changed(lambda run: run["results"][4].update(id=999)),
    "server empty": changed(lambda run: run["provenance"].update(server={})),
    "server model number": changed(lambda run: run["provenance"]["server"].update(model=5)),
    "server files number": changed(lambda run: run["provenance"]["server"].update(files=5)),
    "language unknown": changed(lambda run: run["provenance"].update(language="xx")),
    "provenance text": changed(lambda run: run.update(provenance="x")),
    "server null": changed(lambda run: run["provenance"].update(server=None)),
    "complete text": changed(lambda run: run.update(complete="yes")),
    "trace number": changed(lambda run: run["results"][0].update(trace=[1])),
    "observation text": changed(lambda run: run["results"][0]["trace"][0].update(observation="0")),
    "stock text": changed(lambda run: run["results"][0]["trace"][0]["observation"].update(stock="0")),
    "answer without text": changed(lambda run: run["results"][0].update(answer={"finish_reason": "stop"})),
    "answer number": changed(lambda run: run["results"][0]["answer"].update(raw=7)),
    "error number": changed(lambda run: run["results"][0].update(error=5)),
    "seconds text": changed(lambda run: run["results"][0].update(seconds="1")),
    "seconds NaN": changed(lambda run: run["results"][0].update(seconds=float("nan"))),
    "seconds infinite": lambda text: text.replace(b'"seconds": ', b'"seconds": 1e999', 1),
    "a number beyond all": lambda text: text.replace(b'"provenance": {', b'"provenance": {"x": 1e999,', 1),
    "seconds negative": changed(lambda run: run["results"][0].update(seconds=-1)),
    "timings text": changed(lambda run: run["results"][0]["answer"].update(timings={"prompt_ms": "x"})),
    "ref number": changed(lambda run: run["results"][0].update(ref=5)),
    "two of one id": changed(lambda run: run["results"][1].update(id=0)),
    "other data": changed(lambda run: run["provenance"]["data"].update(sha256="0" * 64)),
    "escapes in a name": changed(lambda run: run["provenance"]["data"].update(file="\x1b[2J\n" * 999)),
}


@pytest.mark.parametrize("name", WRONG_RUN)
def test_evaluate_refuses_results_that_are_damaged_or_made_up(name: str, shop: Shop, whole_run: bytes) -> None:
    path = shop.outputs / "agent.json"
    path.write_bytes(WRONG_RUN[name](whole_run))
    before = path.read_bytes()
    line = failed(shop.run("evaluate"), 2, "agent.json|no result")
    assert re.search(r"python -m src\.cli .*agent|--data", line)
    assert path.read_bytes() == before and not (shop.outputs / "evaluation.json").exists()
    tally.count("survival", "damaged agent.json")


def test_a_byte_order_mark_that_an_editor_left_before_a_run_changes_nothing(shop: Shop, whole_run: bytes) -> None:
    (shop.outputs / "agent.json").write_bytes(b"\xef\xbb\xbf" + whole_run)
    succeeded(shop.run("evaluate"))
    assert (shop.outputs / "evaluation.json").exists()


@pytest.mark.parametrize("name", ["array", "cut", "binary", "object"])
def test_a_damaged_agent_json_does_not_hinder_the_next_run(name: str, shop: Shop, whole_run: bytes) -> None:
    damaged = WRONG_RUN[name](whole_run)
    (shop.outputs / "agent.json").write_bytes(damaged)
    interrupted(shop)
    assert (shop.outputs / "agent.previous.json").read_bytes() == damaged
    with serving() as server:
        shop.url = server.url
        succeeded(shop.run("agent", "--resume"))
    complete(shop)


def test_a_database_that_disappears_during_the_run_is_a_failed_check(shop: Shop, prepared: Path) -> None:
    def plan(request: Request) -> Any:
        shop.database.unlink(missing_ok=True)
        return None if request.number < 60 or not request.stage else [hang_up]

    with serving(lambda request: plan(request) if request.stage else None) as server:
        shop.url = server.url
        failed(shop.run("agent"), 1, "changed during the run")
    assert shop.read()["digest_after"] is None and len(shop.read()["results"]) == QUESTIONS
    shutil.copy(prepared, shop.database)
