"""What was begun knows its own conditions: `--resume` needs no option, and a folder of results knows its data file.

Run alone with: python -m pytest tests/survival/test_remembered.py
"""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from src.commands.route import MARK
from tests.support.command import environment
from tests.support.depth import few
from tests.support.faulty_server import serving
from tests.support.project import ROOT, Shop, failed, run, succeeded
from tests.survival.test_interruption import complete, stops_at

UNDER = ["--lang", "es", "--guard-answers", "--jobs", "2"]


def pasted(line: str, folder: Path = ROOT) -> str:
    """Run the command that ends a line, as a person would who pastes it into a shell; returns what it printed."""
    command = re.split(r"(?:with|out|anew): ", line.rstrip("\n"))[-1]
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stdout[-500:], done.stderr)
    return done.stdout + done.stderr


def own_shop(folder: Path) -> Path:
    """A data file of three products and two questions, outside of the project."""
    names = [("REF-000", "Lamp", 0), ("REF-001", "Chair", 4), ("REF-002", "Table", 7)]
    queries: list[dict[str, Any]] = [
        {"id": number, "ref": ref, **dict.fromkeys(("query", "es", "vi", "fr"), f"{ref}?")}
        for number, ref in enumerate(("REF-001", "REF-002"))
    ]
    path = folder / "mine.json"
    products = [{"ref": ref, "name": name, "stock": stock} for ref, name, stock in names]
    path.write_text(json.dumps({"products": products, "queries": queries}), encoding="utf-8")
    return path


@pytest.fixture
def cut(shop: Shop) -> str:
    """A run under conditions of its own that lost its server; returns the line that it ended with."""
    with serving(stops_at(9)) as server:
        shop.url = server.url
        return failed(shop.run("agent", *UNDER), 3, "are kept, finish with: ")


def test_the_command_that_is_printed_finishes_the_run_under_its_own_conditions(cut: str, shop: Shop) -> None:
    command = cut.rpartition("finish with: ")[2]
    assert not set(UNDER) & set(command.split())
    with serving() as server:
        told = pasted(cut.replace(shop.url, server.url))
    assert "resuming: " in told
    run = complete(shop)
    assert (run["provenance"]["language"], run["provenance"]["jobs"]) == ("es", 2)
    assert all(result["delivered"] for result in run["results"])


@pytest.mark.parametrize(
    ("typed", "says"),
    few(
        [
            (["--lang", "vi"], r'language: "es" there, "vi" here; it knows its own, so leave --lang out: '),
            (["--no-guard-answers"], "guard_answers: true there, false here; .* leave --guard-answers out: "),
            (["--jobs", "1"], "jobs: 2 there, 1 here; .* leave --jobs out: "),
            (["--data", "MINE"], "data.sha256: .* leave --data out: "),
        ],
        2,
    ),
)
def test_another_option_is_refused_with_both_values_before_a_server_is_looked_for(
    typed: list[str], says: str, cut: str, shop: Shop, tmp_path: Path
) -> None:
    before = (shop.outputs / "agent.journal.jsonl").read_bytes()
    words = [str(own_shop(tmp_path)) if word == "MINE" else word for word in typed]
    with serving() as server:
        shop.url = server.url
        line = failed(shop.run("agent", "--resume", *words), 2, f"made under different conditions: .*{says}")
        assert not server.requests
        assert (shop.outputs / "agent.journal.jsonl").read_bytes() == before
        pasted(line)
    complete(shop)


def test_an_option_that_says_the_same_is_taken(cut: str, shop: Shop) -> None:
    with serving() as server:
        shop.url = server.url
        succeeded(shop.run("agent", "--resume", *UNDER, "--data", str(ROOT / "data" / "products.json")))
    complete(shop)


def route(folder: Path, *words: str, url: str) -> Any:
    """Run `reproduce` into a folder."""
    return Shop(folder, url).run("reproduce", *words)


@pytest.mark.parametrize(("at", "runs"), few([(45, 3), (9, 1), (0, 1), (9, 3), (30, 3)], 2))
def test_a_route_that_was_cut_is_finished_by_the_command_that_it_printed(at: int, runs: int, tmp_path: Path) -> None:
    folder = tmp_path / "it's $(here)"
    with serving(stops_at(at)) as server:
        ended = route(folder, "--lang", "es", "--runs", str(runs), url=server.url)
    line = failed(ended, 3, "finish with: .* reproduce --resume")
    marks = list(folder.glob(f"run-*/{MARK}.json"))
    assert [mark.parent.name for mark in marks] == [f"run-00{at // 30 + 1}"]
    with serving() as server:
        told = pasted(re.sub(r"LLM_BASE_URL=\S+", f"LLM_BASE_URL={server.url}", line))
    assert f"{folder}/run-00{runs}/report.html\n" in told
    assert sorted(path.name for path in folder.glob("run-*")) == [f"run-00{n + 1}" for n in range(runs)]
    for number in range(runs):
        made = Shop(folder / f"run-00{number + 1}")
        run = complete(made)
        assert run["provenance"]["language"] == "es"
        assert {"report.html", "evaluation.json", "exercise.json"} <= {path.name for path in made.outputs.iterdir()}
    assert not list(folder.glob(f"run-*/{MARK}.json"))


@pytest.mark.parametrize(
    "gone", [["prepare.json"], ["prepare.json", "stock.db"]], ids=["half prepared", "not prepared"]
)
def test_a_route_that_was_killed_before_its_questions_is_finished(gone: list[str], tmp_path: Path) -> None:
    with serving(stops_at(0)) as server:
        failed(route(tmp_path / "out", url=server.url), 3)
    for name in [*gone, "agent.json", "agent.journal.jsonl"]:
        (tmp_path / "out" / "run-001" / name).unlink()
    with serving() as server:
        succeeded(route(tmp_path / "out", "--resume", url=server.url))
    complete(Shop(tmp_path / "out" / "run-001"))


@pytest.mark.parametrize(
    ("typed", "says"),
    few(
        [
            (["--lang", "vi"], 'language: "en" there, "vi" here; .* leave --lang out: '),
            (["--runs", "2"], "runs: 1 there, 2 here; .* leave --runs out: "),
            (["--data", "MINE"], "data.sha256: .* leave --data out: "),
        ]
    ),
)
def test_a_route_is_not_finished_under_other_options(typed: list[str], says: str, tmp_path: Path) -> None:
    with serving(stops_at(3)) as server:
        failed(route(tmp_path / "out", url=server.url), 3)
    words = [str(own_shop(tmp_path)) if word == "MINE" else word for word in typed]
    with serving() as server:
        line = failed(route(tmp_path / "out", "--resume", *words, url=server.url), 2, says)
        assert not server.requests
        pasted(line)


@pytest.mark.parametrize("mark", few([None, '{"language": "xx"}', "{", "[]"], 2))
def test_without_an_interrupted_route_the_line_says_how_to_start_one(mark: str | None, tmp_path: Path) -> None:
    if mark is not None:
        (tmp_path / "run-001").mkdir()
        (tmp_path / "run-001" / f"{MARK}.json").write_text(mark, encoding="utf-8")
    with serving() as server:
        line = failed(route(tmp_path, "--resume", url=server.url), 2, "start anew with: .* reproduce$")
        pasted(line)


def test_a_folder_of_results_asks_the_questions_of_the_file_that_it_was_built_from(tmp_path: Path) -> None:
    folder, mine = tmp_path / "out", own_shop(tmp_path)
    shop = Shop(folder)
    succeeded(shop.run("prepare", "--data", str(mine)))
    with serving(stops_at(1)) as server:
        shop.url = server.url
        assert "lost on the way to the server: 1" in succeeded(shop.run("agent"))
    with serving() as server:
        shop.url = server.url
        succeeded(shop.run("agent", "--resume"))
        succeeded(shop.run("agent"))
    assert [result["query"] for result in shop.read()["results"]] == ["REF-001?", "REF-002?"]
    assert "queries" in succeeded(shop.run("evaluate"))
    succeeded(shop.run("report"))
    assert str(tmp_path) not in (folder / "agent.json").read_text(encoding="utf-8")


def test_a_data_file_that_moved_or_changed_or_is_another_is_said(tmp_path: Path) -> None:
    folder, mine = tmp_path / "out", own_shop(tmp_path)
    shop = Shop(folder)
    succeeded(shop.run("prepare", "--data", str(mine)))
    mine.write_text(mine.read_text(encoding="utf-8").replace("REF-001?", "How many of REF-001?"), encoding="utf-8")
    with serving() as server:
        shop.url = server.url
        assert f"note: {mine} has changed since {shop.database} was built from it" in succeeded(shop.run("agent"))
        told = succeeded(shop.run("agent", "--data", "data/products.json"))
        assert f"note: {shop.database} was built from {mine}, and its rows are what is read" in told
        assert "note" not in succeeded(shop.run("agent", "--data", "data/hostile.json"))
        assert "not" in succeeded(shop.run("evaluate"))  # of the hostile run, which is found by its digest
        moved = mine.rename(tmp_path / "moved.json")
        failed(shop.run("agent"), 2, "mine.json, which .* is about, is not there any more; name .* with --data")
        succeeded(shop.run("agent", "--data", str(moved)))


def test_a_folder_that_moves_alone_still_finds_the_projects_own_data(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "out")
    succeeded(shop.run("prepare"))
    shutil.move(shop.outputs, tmp_path / "a" / "deep" / "folder")
    moved = Shop(tmp_path / "a" / "deep" / "folder")
    with serving() as server:
        moved.url = server.url
        succeeded(moved.run("agent"))
        succeeded(moved.run("evaluate"))


def test_the_third_lesson_asks_the_same_file(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    succeeded(Shop(folder).run("prepare", "--data", str(own_shop(tmp_path))))
    with serving() as server:
        env = Shop(folder, server.url).environment()
        for words in (["agent", "--caller", "shop-north"], ["evaluate"]):
            done = run("--outputs", folder, *words, program="src.going_further", env=env)
            assert done.status == 0, done.err
    made = json.loads((folder / "going-further" / "agent.json").read_text(encoding="utf-8"))
    assert [result["query"] for result in made["results"]] == ["REF-001?", "REF-002?"]
