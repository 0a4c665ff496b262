"""The records of this package: what the third tool reads, a caller's question and run, a line of the log.

What they share with R3 is in `src/base/records.py`.
"""

from typing import NotRequired, TypedDict, final

from src.base.records import Generation, JsonValue, NotFound, Product, Program, Question


@final
class LowStock(TypedDict):
    """What the third tool reads; no products where nothing is both low and the caller's."""

    products: list[Product]


Seen = Product | NotFound | LowStock


class Step(TypedDict):
    """A call that was decided about, and what the caller and the model got for it."""

    call: JsonValue  # of one of three tools; `access.decide` has checked it
    observation: Seen


class Answered(Question):
    """What became of a caller's question: `flow.run`."""

    proposal: Generation | None  # None: no usable reply
    decision: str | None  # one of `access.DECISIONS`; None where there was no proposal
    trace: list[Step]  # one step, or none where the call was malformed
    answer: Generation | None
    error: str | None
    seconds: float  # the whole question, by our clock


class Rights(TypedDict):
    """Who asked, and what was theirs."""

    name: str
    tools: list[str]
    references: list[str]


class CallerRun(TypedDict):
    """going-further/agent.json, kept after each question."""

    provenance: Program
    caller: Rights
    digest_before: str  # SHA-256 of the database
    complete: bool
    results: list[Answered]  # in the order of the questions
    digest_after: NotRequired[str]  # of a complete run
    unchanged: NotRequired[bool]  # of a complete run


class CallerMeasures(TypedDict):
    """What a caller's run is judged by: `measures.measures`."""

    queries: int
    observation_correct: float  # share of the questions, four digits
    decisions: dict[str, int]  # questions by `access.DECISIONS`
    third_tool: int  # calls of it
    rows_of_others: list[int]  # questions that showed a row outside the rights
    errors: int
    mean_ms: float  # of a whole question, by our clock


class Entry(TypedDict):
    """A line of the log of decisions."""

    time: str  # ISO 8601, UTC, milliseconds
    caller: str
    call: JsonValue  # None for a malformed one: no words of a customer are kept
    decision: str  # one of `access.DECISIONS`
    reason: str
