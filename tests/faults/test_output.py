"""What a model writes is shown with its control characters as escapes, and stored as it was.

Run alone with: python -m pytest tests/faults/test_output.py
"""

import json
import unicodedata

import pytest

from tests.support import tally
from tests.support.depth import spread
from tests.support.faulty_server import completion, http, send, serving
from tests.support.project import Shop, failed, shown_safely, succeeded

TEXTS = {
    "escape sequences": "\x1b[2J\x1b[31mred\x1b]0;title\x07\x1bP1$r\x1b\\",
    "C1 controls": "\x9b31m\x90\x9d0;x\x9c\x85",
    "carriage return": "Stock: 5\rStock: 0",
    "backspaces": "Stock: 5\b0",
    "new lines": "one\ntwo\r\nthree\x0bfour\x0cfive\u2028six\u2029seven",
    "bell and NUL": "\a\x00\x7f",
    "overrides": "\u202e0 :kcotS\u202c \u2066x\u2069 \u200f\u200e\u061c",
    "zero width": "Sto\u200bck\u2060 \ufeff0\u00ad",
    "hidden tags": "".join(chr(0xE0000 + ord(c)) for c in "stock 9"),
    "lone surrogates": "\ud800 \udfff x\udc80",
    "private use": "\ue000\U0010ffff\ufdd0",
    "all of the first plane that is not printable": "".join(
        chr(n) for n in range(0x10000) if not chr(n).isprintable() and not 0xDC00 <= n <= 0xDFFF
    ),
    "combining": "0" + "\u0301" * 500,
    "emoji": "📦👨‍👩‍👧🇫🇷 0",
    "Arabic": "المخزون صفر",
    "markup": "<script>alert(1)</script>&quot;{{7*7}}",
    "empty": "",
    "a megabyte": "Stock: 0 é" * 100_000,
    "a megabyte of escapes": "\x1b" * 1_000_000,
    "one long line of JSON": json.dumps({"a": "\x1b" * 5000}),
}


@pytest.mark.parametrize("name", spread(TEXTS, 6))
def test_an_answer_is_shown_safely_and_stored_losslessly(name: str, shop: Shop) -> None:
    text = TEXTS[name]
    with serving(lambda request: [send(http(completion(text)))] if request.stage == "answer" else None) as server:
        shop.url = server.url
        shown = succeeded(shop.run("ask", "What is the stock level for REF-000?"))
    assert shop.read("ask.json")["result"]["answer"]["raw"] == text
    assert len(shown) < 6000
    stored = (shop.outputs / "ask.json").read_text(encoding="utf-8")
    assert not [c for c in stored if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co") and c != "\n"]
    tally.count("faults", "answers shown and stored")


def test_a_whole_run_of_such_answers_is_shown_and_stored(shop: Shop) -> None:
    names = list(TEXTS)

    def plan(request):  # type: ignore[no-untyped-def]
        if request.stage != "answer":
            return None
        return [send(http(completion(TEXTS[names[(request.number // 2) % len(names)]])))]

    with serving(plan) as server:
        shop.url = server.url
        succeeded(shop.run("agent"))
        succeeded(shop.run("evaluate"))
    stored = {result["answer"]["raw"] for result in shop.read()["results"]}
    assert stored == set(TEXTS.values())
    tally.count("faults", "answers shown and stored", 30)


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if text])
def test_a_proposal_that_is_refused_is_shown_safely(name: str, shop: Shop) -> None:
    with serving(lambda request: [send(http(completion(TEXTS[name])))] if request.stage else None) as server:
        shop.url = server.url
        done = shop.run("ask", "What is the stock level for REF-000?")
    failed(done, 1, "refused: ")
    assert shop.read("ask.json")["result"]["proposal"]["raw"] == TEXTS[name]
    tally.count("faults", "proposals shown and stored")


QUESTIONS = ["\x1b[2J REF-001?", "\u202eREF-001?", "a\nb\rREF-001", "é" * 50_000 + "REF-001"]


@pytest.mark.parametrize("question", QUESTIONS, ids=range(len(QUESTIONS)))
def test_a_question_is_echoed_safely(question: str, shop: Shop) -> None:
    with serving() as server:
        shop.url = server.url
        succeeded(shop.run("ask", question))
    assert shop.read("ask.json")["result"]["query"] == question


WRONG = [
    ["--l\nang", "x"],
    ["agent", "--lang", "\x1b[2J"],
    ["agent", "--data", "/nowhere/\x1b[2J\n.json"],
    ["\x1b[31m"],
    ["agent", "--nothing\u202e"],
    ["ask"],
    ["ask", " \t"],
    ["ask", "\udcff"],
    ["agent", "extra\x1b"],
    ["reproduce", "--runs", "0"],
    ["reproduce", "--runs", "x\ny"],
]


@pytest.mark.parametrize("args", WRONG, ids=range(len(WRONG)))
def test_wrong_arguments_end_in_one_safe_line(args: list[str], shop: Shop) -> None:
    done = shop.run(*args)
    assert done.status == 2 and done.err.count("\n") == 1, done.err
    shown_safely(done)
    tally.count("faults", "wrong arguments")


DATA = {
    "empty": b"",
    "array": b"[]",
    "null": b"null",
    "text": b'"x"',
    "no JSON": b"{",
    "nested": b"[" * 100_000,
    "digits": b'{"products": ' + b"9" * 5000 + b"}",
    "binary": bytes(range(256)),
    "byte order mark": b"\xef\xbb\xbf{}",
    "no products": b'{"products":[],"queries":[]}',
    "escapes": json.dumps({"products": [{"ref": "\x1b[2J\n", "name": "x", "stock": 0}], "queries": []}).encode(),
    "questions empty": b'{"questions":[]}',
    "questions null": b'{"questions":null}',
    "questions and products": b'{"questions":[],"products":[]}',
    "question twice": json.dumps(
        {
            "questions": [
                {"id": 0, "kind": "x", "language": "en", "query": "?", "acceptable": {"read": [], "refusal": True}}
            ]
            * 2
        }
    ).encode(),
}


@pytest.mark.parametrize("name", DATA)
def test_a_data_file_that_is_none_ends_in_one_line(name: str, shop: Shop) -> None:
    path = shop.outputs / "data.json"
    path.write_bytes(DATA[name])
    for command in ("agent", "evaluate", "prepare"):
        failed(shop.run(command, "--data", str(path)), 2, "data.json")
    assert not (shop.outputs / "agent.json").exists()
    tally.count("faults", "data files", 3)
