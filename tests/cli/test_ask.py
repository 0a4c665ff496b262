"""`ask` as a person types it, and as a program reads it; `evaluate` likewise.

Run alone: python -m pytest tests/cli/test_ask.py
"""

import json
import sys

import pytest

from tests.support.faulty_server import Request, Step, hang_up, serving
from tests.support.fixtures import prepared, project_unchanged, shop
from tests.support.project import Shop, failed, run, succeeded

__all__ = ["prepared", "project_unchanged", "shop"]


def test_a_question_needs_no_quotes(shop: Shop) -> None:
    with serving() as server:
        shop.url = server.url
        succeeded(shop.run("ask", "What", "is", "the", "stock", "of", "REF-001?", "--lang", "es"))
    assert shop.read("ask.json")["result"]["query"] == "What is the stock of REF-001?"


@pytest.mark.parametrize("words", [["-REF-001?"], ["REF-001", "-now?"], ["-1/2", "of", "REF-001?"]])
def test_a_question_that_begins_with_a_dash_is_told_how_to_be_asked(words: list[str], shop: Shop) -> None:
    if sys.version_info < (3, 14) or not words[0][1].isdigit():  # from 3.14 on argparse takes -1/2 for a text itself
        failed(shop.run("ask", *words), 2, r"a text that begins with a dash goes after --\); see .* --help")
    with serving() as server:
        shop.url = server.url
        succeeded(run("--outputs", shop.outputs, "ask", "--", *words, env=shop.environment()))
    assert shop.read("ask.json")["result"]["query"] == " ".join(words)


def test_each_question_keeps_a_record_of_its_own(shop: Shop) -> None:
    with serving() as server:
        shop.url = server.url
        told = [succeeded(shop.run("ask", f"REF-00{number}?")).splitlines()[-1] for number in range(3)]
    names = ["ask.json", "ask-002.json", "ask-003.json"]
    assert told == [str(shop.outputs / name) for name in names]
    assert [shop.read(name)["result"]["query"] for name in names] == ["REF-000?", "REF-001?", "REF-002?"]


def test_json_is_the_record_and_nothing_else_refused_or_not(shop: Shop) -> None:
    def gone(request: Request) -> list[Step] | None:
        return [hang_up] if request.stage else None

    with serving() as server:
        shop.url = server.url
        ended = shop.run("ask", "--json", "REF-001?")
        assert ended.status == 0 and json.loads(ended.out) == shop.read("ask.json")
        succeeded(shop.run("agent"))
        ended = shop.run("evaluate", "--json")
        assert ended.status == 0 and json.loads(ended.out) == shop.read("evaluation.json")
        succeeded(shop.run("agent", "--data", "data/hostile.json"))
        ended = shop.run("evaluate", "--json")
        assert json.loads(ended.out) == shop.read("hostile.json")
    with serving(gone) as server:
        shop.url = server.url
        ended = shop.run("ask", "--json", "REF-001?")
        failed(ended, 3, "the model server failed")
        assert json.loads(ended.out) == shop.read("ask-002.json")


def test_json_is_utf_8_whatever_the_terminal_claims(shop: Shop) -> None:
    with serving() as server:
        shop.url, shop.env["PYTHONIOENCODING"] = server.url, "ascii"
        ended = shop.run("ask", "--json", "Tồn kho của REF-001?")
    assert json.loads(ended.out)["result"]["query"] == "Tồn kho của REF-001?"
