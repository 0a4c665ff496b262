"""Numbers in a sentence, as whole tokens.

Run alone: python -m pytest tests/wording/test_figures.py
"""

import pytest

from src.wording import figures

# A text, and the whole number that it holds.
HOLDS = [
    ("20", 20),
    ("There are 20 units.", 20),
    ("(20)", 20),
    ("stock:20,", 20),
    ("20.0", 20),
    ("+20", 20),
    ("from 3 to 20", 20),
    ("1,234", 1234),
    ("1.234", 1234),
    ("1 234", 1234),
    ("1\u202f234 unités", 1234),
    ("1'234", 1234),
    ("1,234.00", 1234),
    ("1.234,0", 1234),
    ("12 345 678", 12345678),
    ("٢٠", 20),
    ("２０ units", 20),
    ("٢\u066c٣٤٥", 2345),
    ("0", 0),
    ("-0", 0),
    ("9 111", 9111),
    ("the stock is\n20\n", 20),
    ("REF-20", 20),  # a hyphen after a word is no sign; names are the caller's to take out
]

# A text, and a number that it only seems to hold.
LACKS = [
    ("120", 20),
    ("201", 20),
    ("-20", 20),
    ("\u221220", 20),
    ("20.5", 20),
    ("20,5", 20),
    ("20,30", 20),
    ("0.20", 20),
    (".20", 20),
    ("1.20", 20),
    ("20 %", 20),
    ("20%", 20),
    ("20k", 20),
    ("x20", 20),
    ("é20", 20),
    ("020", 20),
    ("00", 0),
    ("0.5", 0),
    ("10", 0),
    ("1,23,456", 123456),
    ("1234", 234),
    ("1 234", 234),
    ("1.2.3.4", 1234),
    ("twenty", 20),
    ("²", 2),
    ("½", 2),
    ("", 0),
    ("9" * 5000, 9),
]


@pytest.mark.parametrize(("text", "figure"), HOLDS)
def test_a_whole_number_is_found(text: str, figure: int) -> None:
    assert figures.holds(text, figure)


@pytest.mark.parametrize(("text", "figure"), LACKS)
def test_a_part_of_a_number_is_not_the_number(text: str, figure: int) -> None:
    assert not figures.holds(text, figure)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("20 of 120", ["120"]),
        ("20, again 20", []),
        ("20 or ½", ["½"]),
        ("20 m²", ["²"]),
        ("2026-11-30: 20", ["2026", "11", "30"]),
        ("20 %", ["20%"]),
        ("no number here", []),
    ],
)
def test_every_other_number_is_named_as_it_stands(text: str, tokens: list[str]) -> None:
    assert figures.others(text, 20) == tokens


def test_without_a_figure_every_number_is_one_too_many() -> None:
    assert figures.others("20 or 0", None) == ["20", "0"]
