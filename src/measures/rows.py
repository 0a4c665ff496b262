"""The name of each measure and its row in a table: the same words on the terminal and on the page.

In English; they are keys of the catalogue, translated where they are shown.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from src.base.messages import N_
from src.measures.records import Beyond, Concerned, Measure, Wording
from src.wording.check import FAULTS

MEASURES: tuple[tuple[Measure, str], ...] = (
    ("queries", N_("questions asked")),
    ("observation_correct", N_("share read correctly from the database")),
    ("errors", N_("refused or failed questions")),
    ("answer_marker_present", N_("share of answers with the stock number, or introuvable")),
    ("mean_ms", N_("mean time of a question, both generations")),
)
SHARES: tuple[tuple[Literal["whole_number_present", "marker_present"], str], ...] = (
    ("whole_number_present", N_("with the stock as a whole number")),
    ("marker_present", N_("with the marker")),
)


class Row(NamedTuple):
    """One line of the second block: a count for each column of sentences, and the questions behind the first."""

    key: str  # as evaluation.json has it
    words: str
    counts: list[int | None]  # None where the column has no such count
    ids: list[int]


def sides(block: Beyond) -> list[tuple[str, Wording]]:
    """The columns of sentences: the model's, and the delivered ones where the wording was guarded."""
    named = ((N_("model"), block["model"]), (N_("delivered"), block["delivered"]))
    return [(name, side) for name, side in named if side is not None]


def counted(block: Beyond) -> list[Row]:
    """The counts of the second block in their order; whatever a sentence says, another product comes first."""
    columns = [side for _, side in sides(block)]
    other = block["another_product"]
    rows = [Row("another_product", N_("another product was read"), [other["count"] for _ in columns], other["ids"])]
    rows.append(
        _row(
            "observation_only",
            N_("states the observation and nothing else"),
            [side["observation_only"] for side in columns],
        )
    )
    rows += [_row(name, words, [side["faults"][name] for side in columns]) for name, words in FAULTS.items()]
    rows.append(
        _row("marker_differs", N_("marker and whole number disagree"), [side["marker_differs"] for side in columns])
    )
    return rows


def replaced(block: Beyond) -> list[Row]:
    """The sentences that are not the model's own, where the wording was guarded; else no row."""
    if block["delivered"] is None:
        return []
    made, refused = block["delivered"]["from_observation"], block["delivered"]["from_question"]
    return [
        Row("from_observation", N_("sentences made from the observation"), [None, made["count"]], made["ids"]),
        Row(
            "from_question",
            N_("questions that get no stock: they name no product, or another"),
            [None, refused["count"]],
            refused["ids"],
        ),
    ]


def _row(key: str, words: str, found: Sequence[Concerned]) -> Row:
    return Row(key, words, [each["count"] for each in found], found[0]["ids"])


def number(value: float) -> str:
    """Return a count as it is, a time with two digits, a share with four."""
    return str(value) if isinstance(value, int) else f"{value:.2f}" if value > 1 else f"{value:.4f}"
