"""What a question names, against what was read: a customer gets a stock only of the product that they asked about.

Run alone: python -m pytest tests/wording/test_asked.py
"""

import re
from typing import Any

import pytest

from src import tools
from src.base.messages import LANGUAGES
from src.base.records import NotFound, Product, Result
from src.commands import ask
from src.runs import catalog
from src.wording import asked, check, deliver

TWELVE: Product = {"ref": "REF-012", "name": "Produit 12", "stock": 69}
UNKNOWN: NotFound = {"found": False}

# A question, and what becomes of it when REF-012 (69 left) was read.
ANSWERED = [
    "Is REF-012 available?",
    "is ref-012 available?",
    "ref 012",
    "REF012",
    "REF_012?",
    "the REF - 012",
    "REF\u2011012",  # a no-break hyphen, as a word processor writes
    "REF\u2013012",
    "\uff32\uff25\uff26\uff0d\uff10\uff11\uff12",  # full width
    "REF-\u0660\u0661\u0662",
    "REF\u200b-012",
    "REF-012, REF-012 and ref 012",
    "Do you have two REF-012s? REF-012's price is known.",
    "¿Hay réf. 012?",
    "Có mã sản phẩm 012 không?",
    "Is code 012 there?",
    "How many REF-012 for order code 55?",
    "REF-012的库存",
    "Produit 12, please",
    "is product 12 there?",
]
NOT_ANSWERED = [
    ("hello", "no_reference"),
    ("", "no_reference"),
    ("How many referendums, 12?", "no_reference"),
    ("ref to 12", "no_reference"),
    ("Produit 13", "no_reference"),
    ("REF-12", "malformed"),
    ("ref 12", "malformed"),
    ("REF-1234?", "malformed"),
    ("REF-0123", "malformed"),
    ("REF-012-B", "malformed"),
    ("REF-O12", "malformed"),
    ("code 12", "malformed"),
    ("Produit 12 REF-12", "malformed"),
    ("Is REF-013 available?", "another"),
    ("REF-013 or REF-014?", "another"),
    ("REF-012 and REF-013?", "several"),
    ("REF-012/REF-013", "several"),
    ("REF-012 or REF-13?", "several"),
]


@pytest.mark.parametrize("question", ANSWERED)
def test_a_question_that_names_the_product_in_any_spelling_is_answered(question: str) -> None:
    assert asked.mismatch(question, "REF-012", TWELVE) is None


@pytest.mark.parametrize(("question", "kind"), NOT_ANSWERED)
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_read_for_another_question_is_not_delivered(question: str, kind: str, language: str) -> None:
    result = read(question)
    given = deliver.deliver(result, language)
    assert given is not None and (given["source"], given["reasons"]) == ("question", [kind])
    assert "69" not in given["text"] and "Produit 12 " not in given["text"]
    assert "{" not in given["text"] and kind in deliver.REASONS
    assert (asked.form() in given["text"]) == (kind in ("no_reference", "malformed"))


def test_each_language_has_its_own_sentence_for_each_kind() -> None:
    for question, kind in NOT_ANSWERED:
        texts = {check.about_the_question(kind, question, language) for language in LANGUAGES}  # type: ignore[arg-type]
        assert len(texts) == 4 and not any("introuvable" in text for text in texts)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_questions_that_we_ship_name_what_they_are_about(language: Any) -> None:
    for question in catalog.questions(catalog.load(), language):
        assert asked.asked(question["query"]) == ((question["ref"],), ())
        assert asked.mismatch(question["query"], question["ref"], UNKNOWN) is None


@pytest.mark.parametrize(
    ("question", "language", "note"),
    [
        ("hello", "en", "your question names no REF-### reference; the model proposed REF-012"),
        ("REF-12?", "en", "you wrote REF-12, the model proposed REF-012"),
        ("REF-12?", "es", "usted escribió REF-12; el modelo propuso REF-012"),
        ("REF-013?", "vi", "bạn viết REF-013, mô hình đề xuất REF-012"),
        ("REF-012 or REF-013?", "en", "your question names REF-012, REF-013; a call reads one of them: REF-012"),
        ("ref 012?", "en", None),
    ],
)
def test_the_reader_is_told_where_question_and_proposal_part(question: str, language: Any, note: str | None) -> None:
    assert ask.difference(read(question), language) == note


def test_a_reader_whose_proposal_was_refused_is_told_what_the_question_lacks() -> None:
    refused: Result = {**read("hello"), "trace": [], "answer": None, "error": "Outil interdit ou appel mal formé"}
    assert ask.difference(refused, "en") == "your question names no REF-### reference"
    assert ask.difference({**refused, "query": "REF-12?"}, "en") == "you wrote REF-12; a reference has the form REF-###"
    assert ask.difference({**refused, "query": "REF-012?"}, "en") is None


@pytest.mark.parametrize(
    ("form", "shown", "text", "found"),
    [
        ("SKU-[0-9]{5}", "SKU-#####", "sku 00042 or SKU-42", (("SKU-00042",), ("SKU-42",))),
        ("[A-Z]{2}[0-9]{4}", "[A-Z]{2}####", "is AB1234 or cd5678 there, not AB12345?", (("AB1234", "CD5678"), ())),
        ("[0-9]{13}", "#" * 13, "3 of 4006381333931?", (("4006381333931",), ())),
    ],
)
def test_another_form_of_reference_is_found_the_same_way(
    form: str, shown: str, text: str, found: tuple[object, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked, "REFERENCE", re.compile(form))
    for cached in (asked._prefix, asked._whole):
        cached.cache_clear()
    try:
        assert asked.form() == shown
        assert asked.asked(text) == found
    finally:
        monkeypatch.undo()
        for cached in (asked._prefix, asked._whole):
            cached.cache_clear()


@pytest.mark.parametrize("ref", ["SKU-00042", "AB1234", "4006381333931", "A-B-7"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_may_name_a_reference_of_any_form(ref: str, language: str) -> None:
    product: Product = {"ref": ref, "name": "Mug, red", "stock": 1234}
    for seen in (product, UNKNOWN):
        assert check.faults(check.sentence(seen, ref, language), seen, ref) == []
    assert check.faults(f"{ref}: 5", product, ref) != []


def test_a_long_question_is_read_in_time_that_grows_with_its_length() -> None:
    text = "REF-" + "0-" * 50_000 + " REF-1" * 5_000
    assert len(asked.written(text)) < 200


def read(question: str) -> Result:
    """The result of a question for which REF-012 was read, with a sentence that is right about it."""
    call: Any = {"outil": tools.TOOLS[1], "arguments": {"ref": "REF-012"}}
    made: Any = {"raw": "REF-012: 69", "finish_reason": "stop", "seconds": 0.1}
    return {
        "query": question,
        "proposal": made,
        "trace": [{"call": call, "observation": TWELVE}],
        "answer": made,
        "error": None,
        "seconds": 0.2,
    }
