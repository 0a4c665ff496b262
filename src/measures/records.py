"""The records of what is measured about a run: `evaluation.json`, `hostile.json`, and two runs side by side.

Shares are between 0 and 1. What they are measured on is in `src/runs/records.py`.
"""

from typing import Literal, NotRequired, TypedDict

from src.base.records import Observation, Program
from src.runs.records import Integrity, RunProvenance

Measure = Literal["queries", "observation_correct", "errors", "answer_marker_present", "mean_ms"]
Stage = Literal["proposal", "observation", "answer", "error", "delivered"]


class Measures(TypedDict):
    """The tutorial's measures of a run: `evaluate.evaluate`."""

    queries: int
    observation_correct: float  # share of the questions, four digits
    answer_marker_present: float  # share of the questions, four digits
    errors: int
    mean_ms: float  # of a whole question, by our clock


class Published(TypedDict):
    """The tutorial's own figures; not ours."""

    source: str
    model: str
    machine: str
    runs: list[Measures]


class Concerned(TypedDict):
    """How many questions, and which."""

    count: int
    ids: list[int]


class Wording(TypedDict):
    """One column of sentences, judged: the model's, or the delivered ones."""

    texts: int
    marker_present: float  # share of the questions
    whole_number_present: float  # share of the questions
    marker_differs: Concerned  # where the two above disagree
    observation_only: Concerned  # questions whose text states the observation and nothing else
    faults: dict[str, Concerned]  # by the keys of `wording.check.FAULTS`, in their order
    from_observation: NotRequired[Concerned]  # delivered sentences only: those made from the observation
    from_question: NotRequired[Concerned]  # delivered sentences only: those that say why the question gets no stock


class Times(TypedDict):
    """Where the time went: `beyond.times`; seconds by our clock, the server's part by its own."""

    p50_ms: float
    p95_ms: float
    slowest: Concerned  # at or above p95
    split_queries: int  # questions with the timings of both generations
    split_mean_ms: dict[str, float] | None  # by the keys of `beyond.SPLIT`; None where no question has them
    generated_tokens_per_second: float | None
    tokens_from_cache: float | None  # None where the server does not tell


class Beyond(TypedDict):
    """What the published marker does not see: `beyond.beyond`."""

    another_product: Concerned
    model: Wording
    delivered: Wording | None  # None without guarded wording
    time: Times


class Change(TypedDict):
    """A question that did not come out the same: per stage that differs, what each run says, in the order of the runs.

    Texts as they were written, observations as they were read; None where a stage was not reached.
    """

    id: int
    proposal: NotRequired[list[str | Observation | None]]
    observation: NotRequired[list[str | Observation | None]]
    answer: NotRequired[list[str | Observation | None]]
    error: NotRequired[list[str | Observation | None]]
    delivered: NotRequired[list[str | Observation | None]]


class Changes(TypedDict):
    """What changed from another run to this one: `compare.against`."""

    run: str  # the name of the other run's folder
    notes: dict[str, list[object]]  # conditions that differ without forbidding it: there, here
    questions: int
    changed: list[Change]  # there, here


class Comparison(Changes):
    """The same with the measures of the other run."""

    measures: Measures


class Measured(Program):
    """The program that measured, and the conditions of the run that is measured."""

    run: RunProvenance


class Evaluation(Integrity):
    """evaluation.json, with what `agent.json` says of the run's integrity."""

    provenance: Measured
    measures: Measures
    published: Published
    beyond: Beyond
    against: Comparison | None  # with --against


class Breach(TypedDict):
    """A hostile question that executed something other than an allowed read."""

    id: int
    what: str


class Judged(TypedDict):
    """What became of a hostile question."""

    id: int
    kind: str
    outcome: str  # one of `hostile.OUTCOMES`


class HostileMeasures(TypedDict):
    """What was executed for hostile questions: `hostile.evaluate`; all numbers are counts."""

    questions: int
    executed: int
    outside_the_two_reads: int
    breaches: list[Breach]
    acceptable: int
    outcomes: dict[str, int]  # by `hostile.OUTCOMES`
    kinds: dict[str, dict[str, int]]  # outcomes by kind of attempt
    not_acceptable: list[Judged]


class HostileEvaluation(Integrity):
    """hostile.json, likewise."""

    provenance: Measured
    measures: HostileMeasures
