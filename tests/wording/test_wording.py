"""Sentences about an observation: which are delivered, what is wrong with the others, and what takes their place.

`sentences.json` holds labelled sentences of our own in four languages, by the kind of untruth; `scripts/wording.py`
prints what becomes of them, and of any other such file.

Run alone: python -m pytest tests/wording/test_wording.py
"""

from typing import Any

import pytest

from src.base.records import Call, NotFound, Observation, Product, Result
from src.wording import check, clauses, deliver, lists
from tests.wording import sentences

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
    ("Introuvable.", UNKNOWN),
    ("not found", UNKNOWN),
    ("REF-007 is not out of stock: 9 units remain.", NINE),
    ("1. Reference: REF-007\n2. Name: Produit 7\n3. Stock: 9", NINE),
    ("Producto 7: 9uds", NINE),
    ("The stock of _REF-007_ is **9**.", NINE),
    ("Réf. 007 : 9", NINE),
    ("Il reste 9 unite\u0301s.", NINE),  # a combining accent
    ("| Ref | Name | Stock |\n|---|---|---|\n| REF-007 | Produit 7 | 9 |", NINE),
    ("| Field | Value |\n|---|---|\n| Reference | REF-007 |\n| Stock | 9 |", NINE),
    ('```json\n{"ref": "REF-007", "name": "Produit 7", "stock": 9}\n```', NINE),
    ('Observation outil: {"found": false}', UNKNOWN),
    ("９ units of REF-007 in stock", NINE),  # a full-width digit
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
    ("REF-999: introuvable (not found in stock)", UNKNOWN, set()),  # the prompt never spoke of a stock
    ("REF-007 has 9 units, more arrive tomorrow.", NINE, set()),
    ("Product 0 is available and ready to ship.", ZERO, {"figure_missing"}),  # 0 is the product's number
    ("Product 9 is in stock.", NINE, set()),  # 9 is no number of this product, and no stock either
    ("9,000 units", NINE, set()),  # 9 to some, 9000 to others
    ("9%", NINE, {"figure_missing", "unsupported_number"}),
    ("~9 units", NINE, set()),
    ("9+", NINE, set()),
    ("$9", NINE, set()),
    ("9 units left the stock.", NINE, set()),
    ("| Ref | Price |\n|---|---|\n| REF-007 | 9 |", NINE, set()),
    ("| Ref | Name |\n|---|---|\n| REF-007 | 9 |", NINE, set()),
    ("Reference: 9", NINE, set()),
    ("9 units in stock? ", NINE, set()),
    ("There are 9 unités en stock.", NINE, set()),  # each word is on a list, of two languages
    ("9 units in stock\u200b", NINE, set()),  # a sign that nobody sees
    ("Es sind 9 Stück auf Lager.", NINE, set()),
]
BY_DEFAULT = {"not_listed", "no_lists"}
LANGUAGES = [page.name for page in lists.languages()]


def ref_of(observation: Observation | None) -> str:
    return sentences.ref_of(observation) if observation else "REF-999"


@pytest.mark.parametrize(("text", "observation"), RIGHT)
def test_a_right_sentence_has_no_fault(text: str, observation: Observation) -> None:
    assert check.faults(text, observation, ref_of(observation)) == []


@pytest.mark.parametrize(("text", "observation", "expected"), FAULTY)
def test_a_faulty_sentence_is_named_with_exactly_its_faults(
    text: str, observation: Observation, expected: set[str]
) -> None:
    found = set(check.faults(text, observation, ref_of(observation)))
    assert found == expected or (not expected and len(found & BY_DEFAULT) == len(found) == 1)


def test_a_cut_answer_is_a_fault_even_when_the_number_is_right() -> None:
    assert check.faults("9", NINE, "REF-007", "length") == ["cut"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("observation", [ZERO, NINE, TWELVE, UNKNOWN, {**NINE, "stock": 1234567}])
def test_the_plain_sentence_carries_its_marker_and_is_allowed_in_its_language(
    observation: Observation, language: str
) -> None:
    text, ref = check.sentence(observation, ref_of(observation), language), ref_of(observation)
    assert check.has_own_marker(text, observation, ref)
    assert check.has_marker(text, observation) == ("stock" in observation)  # a customer is not told `introuvable`
    assert check.faults(text, observation, ref) == []
    assert check.judge(text, observation, ref).language == language


def test_the_plain_sentences_of_the_languages_differ() -> None:
    for observation in (ZERO, UNKNOWN):
        assert len({check.sentence(observation, ref_of(observation), language) for language in LANGUAGES}) == 4


def test_a_language_without_lists_falls_to_a_plain_sentence_and_says_why() -> None:
    given = deliver.deliver(result(NINE, "Von REF-007 sind 9 Stück auf Lager."), "de")
    assert given == {"text": "The stock of REF-007 is 9.", "source": "observation", "reasons": ["no_lists"]}


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("There are 9 units, but more arrive tomorrow.", ["arrive", "tomorrow"]),
        ("Il reste 9 unités dans notre magasin de Lyon.", ["magasin", "Lyon"]),
        ("9 units left the stock.", ["9 units left the stock"]),  # listed words in no form
        ("9 units in stock, 3 reserved", ["3", "reserved"]),
        ("9 units", []),
    ],
)
def test_what_no_list_allows_is_marked_in_the_text(text: str, refused: list[str]) -> None:
    assert [text[start:end] for start, end in check.judge(text, NINE, "REF-007").refused] == refused


@pytest.mark.parametrize("text", ["INTROUVABLE", "Introuvable.", "ｉｎｔｒｏｕｖａｂｌｅ", "REF-999: introuvable!"])
def test_the_marker_is_read_without_case_and_in_one_unicode_form(text: str) -> None:
    assert check.has_marker(text, UNKNOWN)
    assert check.faults(text, UNKNOWN, "REF-999") == []


def test_a_name_without_end_costs_nothing_and_is_on_no_list() -> None:
    endless: Product = {**NINE, "name": "x" * 1_000_000}
    assert check.faults("REF-007: 9", endless, "REF-007") == []
    long: Product = {**NINE, "name": "x" * (clauses.LONGEST_NAME + 1)}
    assert not check.judge(f"{long['name']}: 9", long, "REF-007").states
    whole: Product = {**NINE, "name": "x" * clauses.LONGEST_NAME}
    assert check.judge(f"{whole['name']}: 9", whole, "REF-007").states


def test_many_listed_words_in_no_form_are_read_to_their_end() -> None:
    text = "the current stock level of the product with the reference REF-007 is currently " * 250
    assert check.faults(f"{text} 9", NINE, "REF-007") == ["not_listed"]


def labelled() -> list[Any]:
    """Our own sentences: language, whether it is right, kind of untruth, observation, text."""
    return [
        pytest.param(observation, text, is_right, id=f"{language}-{kind}-{text}")
        for language, is_right, kind, observation, text in sentences.own()
    ]


@pytest.mark.parametrize(("observation", "text", "is_right"), [case for case in labelled() if not case.values[2]])
def test_no_untrue_sentence_of_ours_is_delivered(observation: Observation, text: str, is_right: bool) -> None:
    given = deliver.deliver(result(observation, text), "en")
    assert given is not None and given["source"] == "observation"


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_right_sentences_of_ours_are_delivered(language: str) -> None:
    right = [
        (observation, text) for name, is_right, _, observation, text in sentences.own() if name == language and is_right
    ]
    replaced = [text for observation, text in right if check.faults(text, observation, ref_of(observation))]
    assert len(right) >= 38
    assert len(replaced) <= 0.2 * len(right), replaced


def result(observation: Observation | None, text: str | None, finish: str = "stop") -> Result:
    call: Call = {"outil": "consulter_stock", "arguments": {"ref": ref_of(observation)}}
    return {
        "query": f"What is the stock of {ref_of(observation)}?",
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
        "text": "No se ha encontrado REF-999: ese producto no existe.",
        "source": "observation",
        "reasons": ["figure_missing", "unsupported_number", "not_found_as_stock"],
    }


def test_a_failed_second_generation_loses_no_observation() -> None:
    given = deliver.deliver(result(ZERO, None), "fr")
    assert given == {"text": "Le stock de REF-000 est 0.", "source": "observation", "reasons": ["no_answer"]}


def test_without_an_observation_nothing_is_delivered() -> None:
    assert deliver.deliver(result(None, None), "en") is None


@pytest.mark.parametrize(
    ("text", "delivered"),
    [
        ("1,234 units", True),
        ("1.234 units", False),  # in English 1.234 is less than 2
        ("Hay 1.234 unidades.", True),
        ("Hay 1,234 unidades.", False),
        ("Il reste 1\u202f234 unités.", True),
        ("1234,0 units", False),
    ],
)
def test_thousands_are_parted_as_the_language_parts_them(text: str, delivered: bool) -> None:
    given = deliver.deliver(result({**NINE, "stock": 1234}, text), "en")
    assert given is not None and (given["source"] == "model") == delivered


@pytest.mark.parametrize(
    ("text", "stock", "allowed"),
    [
        ("There are sixty-nine units.", 69, True),
        ("There are sixty-nine units.", 9, False),
        ("Quedan 9 (nueve) unidades.", 9, True),
        ("Còn ba cái.", 3, True),
        ("Còn ba mươi cái.", 3, False),
        ("9 units, nine more on the way", 9, False),
    ],
)
def test_a_number_in_words_is_the_figure_or_on_no_list(text: str, stock: int, allowed: bool) -> None:
    assert check.judge(text, {**NINE, "stock": stock}, "REF-007").states == allowed
