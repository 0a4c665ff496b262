"""The pages of `data/wording`: what one must hold, and the notation of its forms.

Run alone: python -m pytest tests/wording/test_lists.py
"""

from pathlib import Path

import pytest

from src.wording import grammar, lists

PAGE = (lists.PAGES / "en.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[zero]", "[none]", "exactly the tables"),
        ("[anywhere]", "[anywhere]\nmore = 1", r"\[anywhere\] must have exactly"),
        ("[plain]", "[plain", "page.toml: "),
        ('says = "<figure>"', 'says = "<number>"', "<number> is no list above"),
        ('says = "<figure>"', 'says = "[<figure>"', r"\] is missing"),
        ('says = "<figure>"', 'says = "<figure>)"', "closes nothing"),
        ('says = "<figure>"', 'says = "N %"', "'%' at 2 is no word"),
    ],
)
def test_a_page_with_a_fault_is_refused_naming_page_and_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in PAGE
    page = tmp_path / "page.toml"
    page.write_text(PAGE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(lists.BadPage, match=said):
        lists.load(page)


def test_a_fifth_language_is_a_page(tmp_path: Path) -> None:
    page = tmp_path / "de.toml"
    page.write_text(PAGE.replace('[stock]\nsays = "<figure>"', '[stock]\nsays = "es gibt N Stück"'), encoding="utf-8")
    place = lists.load(page).states["stock"].follow(["es", "gibt", "N", "stück"])
    assert place is not None and lists.SAID in place.after


@pytest.mark.parametrize(
    ("form", "words", "end"),
    [
        ("a [b] c", "a c", True),
        ("a [b] c", "a b c", True),
        ("a [b] c", "a b", False),
        ("a (b | c d)", "a c d", True),
        ("a (b | c d)", "a c", False),
        ("<x> N", "y N", True),
        ("n'a pas", "n' a pas", True),
        ("out-of-stock", "out of stock", True),
    ],
)
def test_a_form_is_followed_word_by_word(form: str, words: str, end: bool) -> None:
    place = grammar.Follower(grammar.read(form, {"x": grammar.read("y | z", {})}))(words.split())
    assert place is not None and place.is_end == end


def test_every_number_in_words_is_told_once() -> None:
    for language in lists.languages():
        said = [words for words in language.numbers if words]
        assert len(language.numbers) == 100 and len(said) == len(set(said)), language.name
