"""A reader's own shop goes the whole route: the questions are its own, and no figure of it is called R3's.

Run alone: python -m pytest tests/survival/test_own_shop.py
"""

import json
from pathlib import Path

import pytest

from tests.support.faulty_server import serving
from tests.support.project import Shop, failed, succeeded
from tests.survival.test_interruption import stops_at

ROWS = "Ref;Nombre;Existencias\r\n" + "".join(
    f'REF-{number:03};"Taza; {number}";{number % 4}\r\n' for number in range(100, 120)
)


@pytest.fixture
def mine(tmp_path: Path) -> Shop:
    """A folder prepared from a spreadsheet's file."""
    (tmp_path / "shop.csv").write_bytes(b"\xef\xbb\xbf" + ROWS.encode())
    shop = Shop(tmp_path / "outputs")
    succeeded(shop.run("prepare", "--data", str(tmp_path / "shop.csv")))
    return shop


def test_every_command_of_the_route_is_about_the_readers_products(mine: Shop) -> None:
    with serving() as server:
        mine.url = server.url
        assert "22 questions, 0 errors" in succeeded(mine.run("agent"))
    run = mine.read()
    refs = [result["ref"] for result in run["results"]]
    assert len(refs) == 22 and refs.count("REF-999") == 2 and refs[0] == "REF-100"
    told = succeeded(mine.run("evaluate"))
    assert "not R3’s: data; the published columns were made with others" in told
    assert mine.read("evaluation.json")["measures"]["observation_correct"] == 1.0
    assert "7 refused out of 7; database unchanged" in succeeded(mine.run("negatives"))
    lesson = succeeded(mine.run("exercise"))
    assert "Should REF-100 be reported" in lesson and "Should REF-999 be presented" in lesson
    succeeded(mine.run("report"))
    page = (mine.outputs / "report.html").read_text(encoding="utf-8")
    assert "Taza; 101" in page and "other data" in page


def test_an_interrupted_run_about_it_is_finished(mine: Shop) -> None:
    with serving(stops_at(9)) as server:
        mine.url = server.url
        failed(mine.run("agent", "--guard-answers", "--lang", "vi"), 3, "are kept, finish with: ")
    with serving() as server:
        mine.url = server.url
        assert "resuming: " in succeeded(mine.run("agent", "--resume"))
    run = mine.read()
    assert run["complete"] and run["provenance"]["data"]["file"] == "shop.json"
    assert run["provenance"]["language"] == "vi" and len(run["results"]) == 22


def test_questions_in_one_language_choose_it(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text(ROWS)
    (tmp_path / "q.csv").write_text("pregunta\n¿Hay REF-101?\n¿Y REF-888?\n")
    mine = Shop(tmp_path / "outputs")
    files = ("--data", str(tmp_path / "shop.csv"), "--questions", str(tmp_path / "q.csv"))
    succeeded(mine.run("prepare", *files, "--lang", "es"))
    with serving() as server:
        mine.url = server.url
        failed(mine.run("agent", "--lang", "vi"), 2, "question 0 is not there in the language vi; there is: --lang es")
        succeeded(mine.run("agent"))
    assert mine.read()["provenance"]["language"] == "es"


def test_the_whole_route_in_one_go_starts_from_the_spreadsheets_file(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text(ROWS.replace(";0\r\n", ";9\r\n"))
    mine = Shop(tmp_path / "outputs")
    with serving() as server:
        mine.url = server.url
        told = succeeded(mine.run("reproduce", "--data", str(tmp_path / "shop.csv")))
    assert "no exercise: " in told  # nothing is out of stock
    folder = tmp_path / "outputs" / "run-001"
    assert json.loads((folder / "agent.json").read_text())["provenance"]["data"]["file"] == "shop.json"
    assert (folder / "report.html").exists() and not (folder / "exercise.json").exists()


def test_a_bad_row_stops_the_route_before_a_folder_is_made(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text("ref,name,stock\nREF-1,Mug,2\n")
    ended = Shop(tmp_path / "outputs").run("reproduce", "--data", str(tmp_path / "shop.csv"))
    assert ended.status == 2 and "line 2: REF-1 is not of the form REF-###" in ended.err
    assert not (tmp_path / "outputs").exists()
