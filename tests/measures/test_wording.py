"""Stand-in sentences about an observation, right ones beside near misses, in four languages.

Run alone: python -m pytest tests/measures/test_wording.py
"""

import pytest

from src.base.records import Call, Language, NotFound, Observation, Product, Result
from src.wording import check, deliver

ZERO: Product = {"ref": "REF-000", "name": "Produit 0", "stock": 0}
NINE: Product = {"ref": "REF-007", "name": "Produit 7", "stock": 9}
TWELVE: Product = {"ref": "REF-012", "name": "Produit 12", "stock": 20}
UNKNOWN: NotFound = {"found": False}

RIGHT = [
    ("0", ZERO),
    ("The stock of REF-000 is 0.", ZERO),
    ("Produit 0: 0", ZERO),
    ("REF-000 is out of stock (0 units).", ZERO),
    ("Agotado: 0", ZERO),
    ("Hết hàng, còn 0.", ZERO),
    ("En rupture : 0", ZERO),
    ("9", NINE),
    ("REF-007: 9", NINE),
    ("ref 007 has 9 left", NINE),
    ("Il reste 9 unités de Produit 7.", NINE),
    ("El stock de REF-007 es 9.", NINE),
    ("REF-007 còn lại 9.", NINE),
    ("9 available, 9 in stock", NINE),
    ("PRODUIT 12 (REF-012): 20", TWELVE),
    ("introuvable", UNKNOWN),
    ("REF-999 est introuvable.", UNKNOWN),
    ("REF-999: introuvable (not found in stock)", UNKNOWN),
]

FAULTY = [
    ("", NINE, {"figure_missing"}),
    ("REF-009", {**NINE, "ref": "REF-009"}, {"figure_missing"}),  # 9 stands in the reference only
    ("Produit 7", {**NINE, "stock": 7}, {"figure_missing"}),
    ("120", TWELVE, {"figure_missing", "unsupported_number"}),
    ("20 of 120", TWELVE, {"unsupported_number"}),
    ("Produit 120: 20", TWELVE, {"unsupported_number"}),
    ("REF-0120: 20", TWELVE, {"unsupported_number"}),
    ("REF-013: 20", TWELVE, {"unsupported_number"}),
    ("-9", NINE, {"figure_missing", "unsupported_number"}),
    ("9 in stock, 3 reserved", NINE, {"unsupported_number"}),
    ("REF-000 introuvable, 0", ZERO, {"zero_as_not_found"}),
    ("Not found: 0", ZERO, {"zero_as_not_found"}),
    ("REF-000 no existe. 0", ZERO, {"zero_as_not_found"}),
    ("Không tìm thấy. 0", ZERO, {"zero_as_not_found"}),
    ("Le produit n’existe pas : 0", ZERO, {"zero_as_not_found"}),
    ("out of stock", ZERO, {"figure_missing"}),
    ("9, ou introuvable", NINE, {"stock_as_not_found"}),
    ("9: it doesn’t exist", NINE, {"stock_as_not_found"}),
    ("Sold out: 9", NINE, {"stock_as_none"}),
    ("No hay existencias: 9", NINE, {"stock_as_none"}),
    ("9, hết hàng", NINE, {"stock_as_none"}),
    ("Épuisé (9)", NINE, {"stock_as_none"}),
    ("E\u0301puise\u0301 (9)", NINE, {"stock_as_none"}),  # the same with combining accents
    ("REF-999 has 12 units", UNKNOWN, {"figure_missing", "unsupported_number", "not_found_as_stock"}),
    ("introuvable: 0", UNKNOWN, {"unsupported_number", "not_found_as_stock"}),
    ("REF-999 is out of stock", UNKNOWN, {"figure_missing", "not_found_as_stock"}),
    ("Agotado", UNKNOWN, {"figure_missing", "not_found_as_stock"}),
    ("REF-999 is available", UNKNOWN, {"figure_missing", "not_found_as_stock"}),
    ("not found", UNKNOWN, {"figure_missing"}),  # the prompt asks for the French word
]


def ref_of(observation: Observation | None) -> str:
    return observation["ref"] if observation and "ref" in observation else "REF-999"


@pytest.mark.parametrize(("text", "observation"), RIGHT)
def test_a_right_sentence_has_no_fault(text: str, observation: Observation) -> None:
    assert check.faults(text, observation, ref_of(observation)) == []


@pytest.mark.parametrize(("text", "observation", "expected"), FAULTY)
def test_a_faulty_sentence_is_named_with_exactly_its_faults(
    text: str, observation: Observation, expected: set[str]
) -> None:
    assert set(check.faults(text, observation, ref_of(observation))) == expected


def test_a_cut_answer_is_a_fault_even_when_the_number_is_right() -> None:
    assert check.faults("9", NINE, "REF-007", "length") == ["cut"]


@pytest.mark.parametrize("language", check.SENTENCES)
@pytest.mark.parametrize("observation", [ZERO, NINE, TWELVE, UNKNOWN, {**NINE, "stock": 1234567}])
def test_the_plain_sentence_carries_the_marker_and_no_fault(observation: Observation, language: Language) -> None:
    text = check.sentence(observation, ref_of(observation), language)
    assert check.marker(observation) in text
    assert check.faults(text, observation, ref_of(observation)) == []


def test_the_plain_sentences_of_the_languages_differ() -> None:
    assert len({check.sentence(ZERO, "REF-000", language) for language in check.SENTENCES}) == 4


def result(observation: Observation | None, text: str | None, finish: str = "stop") -> Result:
    call: Call = {"outil": "consulter_stock", "arguments": {"ref": ref_of(observation)}}
    return {
        "query": "?",
        "proposal": None,
        "trace": [] if observation is None else [{"call": call, "observation": observation}],
        "answer": None if text is None else {"raw": text, "finish_reason": finish, "seconds": 0.0},
        "error": None,
        "seconds": 0.0,
    }


def test_a_right_answer_is_delivered_as_the_model_wrote_it() -> None:
    assert deliver.deliver(result(NINE, "There are 9."), "en") == {
        "text": "There are 9.",
        "source": "model",
        "reasons": [],
    }


def test_a_faulty_answer_is_replaced_and_the_reasons_are_kept() -> None:
    assert deliver.deliver(result(UNKNOWN, "12 units"), "es") == {
        "text": "REF-999: introuvable (no existe ese producto).",
        "source": "observation",
        "reasons": ["figure_missing", "unsupported_number", "not_found_as_stock"],
    }


def test_a_failed_second_generation_loses_no_observation() -> None:
    given = deliver.deliver(result(ZERO, None), "fr")
    assert given == {"text": "Le stock de REF-000 est 0.", "source": "observation", "reasons": ["no_answer"]}


def test_without_an_observation_nothing_is_delivered() -> None:
    assert deliver.deliver(result(None, None), "en") is None


def test_a_right_number_that_the_published_marker_would_miss_is_replaced() -> None:
    given = deliver.deliver(result({**NINE, "stock": 1234}, "1,234 units"), "en")
    assert given is not None
    assert (given["text"], given["reasons"]) == ("The stock of REF-007 is 1234.", ["figure_missing"])
