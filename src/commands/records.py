"""The records of the exercise: its texts, as data/exercise.json has them, and what it writes."""

from typing import NotRequired, TypedDict

from src.base.records import Language, Observation, Program


class Prompt(TypedDict):
    """One question of the lesson, in one language (data/exercise.json)."""

    question: str
    options: dict[str, str]  # what may be predicted, by its code
    why: str


class Lesson(TypedDict):
    """The lesson in one language (data/exercise.json)."""

    labels: dict[str, str]  # by `exercise.LABELS`
    steps: list[Prompt]


class Observed(TypedDict):
    """What became of a call."""

    observation: Observation | None  # None where it was refused
    refusal: NotRequired[str]
    sql: list[str]  # the statements that SQLite ran for it
    outcome: str  # found, not_found, gate or refused


class Step(Observed):
    """A prediction and what came of it."""

    question: str
    call: object  # or its repr() where JSON cannot hold it
    expected: str
    prediction: str | None  # None where nobody was asked, or the question was left open


class Exercise(TypedDict):
    """exercise.json."""

    provenance: Program
    digest: str  # SHA-256 of the database
    language: Language
    steps: list[Step]
