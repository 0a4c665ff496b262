"""The data file that we ship: sixty products, thirty questions in four languages, each about the reference it names.

Run alone: python -m pytest tests/cli/test_data.py
"""

import re

import pytest

from src.base.messages import LANGUAGES
from src.base.records import Language
from src.runs import catalog

FIRST = {
    "en": "What is the stock level for REF-000?",
    "es": "¿Cuál es el stock de REF-000?",
    "vi": "Tồn kho của REF-000 là bao nhiêu?",
    "fr": "Quel est le stock de REF-000 ?",
}


def test_sixty_products_with_their_names_and_a_first_one_out_of_stock() -> None:
    products = catalog.shop()["products"]
    assert [(p["ref"], p["name"]) for p in products] == [(f"REF-{i:03d}", f"Produit {i}") for i in range(60)]
    assert products[0]["stock"] == 0
    assert 1 < sum(p["stock"] == 0 for p in products) < 10


@pytest.mark.parametrize("language", LANGUAGES)
def test_thirty_questions_each_naming_its_reference_once(language: Language) -> None:
    asked = catalog.questions(catalog.load(), language)
    assert [question["id"] for question in asked] == list(range(30))
    assert asked[0]["query"] == FIRST[language]
    assert sum(question["ref"] == "REF-999" for question in asked) == 3
    for question in asked:
        assert re.findall(r"REF-[0-9]{3}", question["query"]) == [question["ref"]]
