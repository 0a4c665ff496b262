"""What the page's template is given: texts safe to show, counts and shares; no HTML."""

from typing import TypedDict

from src.base.records import Delivered, Language, Negatives
from src.measures.records import Times
from src.measures.rows import Row
from src.runs.records import Run, Server

Cell = tuple[str, str, str]  # class, sign and words of one stage of one question
Count = tuple[str, str, int]  # a key of a filter, the count in words, the count


class Panel(TypedDict):
    """One question on the page: `question.question`."""

    id: int
    heading: str
    query: str | None  # None where the heading is the whole of it
    outcome: str  # a key of `verdicts.OUTCOMES`
    flags: list[str]  # keys of `facts.FILTERS` and `against.FILTERS`
    clean: bool  # read correctly, and no fault found in the sentence
    cells: list[Cell]  # one for each stage
    summary: str
    proposal: str | None
    proposal_raw: str | None  # where the white space was changed above
    checks: list[tuple[str, str]]  # a state, and the checks in it
    other: list[str] | None  # the reference asked about, and the one read
    observation: str | None
    answer: list[tuple[str, bool]] | None  # in pieces, each with whether no list allows it
    answer_language: str  # as the lists of `wording` tell; empty where they do not
    fault_names: list[str]  # keys of `wording.check.FAULTS`
    faults: list[str]  # the same in words
    delivered: Delivered | None
    because: list[str]
    error: str | None
    error_meaning: str  # of a French refusal, in the reader's language; else empty
    split: dict[str, float] | None  # ms by the keys of `beyond.SPLIT`
    line: str  # reference, and what became of it: all there is where `detailed` is false
    detailed: bool  # whether the page has room for the stages: `space.lay_out`
    there: "Panel | None"  # the same question in the other run, where it came out differently


class Verdict(TypedDict):
    """The run in a line, and what stands out in it."""

    line: str
    counts: list[Count]
    others: list[Panel]  # the first that read another product
    more_others: list[Panel]  # those that unfold
    others_left: int
    by_data: int | None  # observations right by the data file, where the database says otherwise


class Figures(TypedDict):
    """What `evaluate` measured of this run, in words."""

    source: str  # of the published figures
    made_with: list[str]  # model and machine of these
    measures: list[dict[str, str]]  # a row each
    faults: list[Row]
    shares: list[tuple[str, list[tuple[str, str]]]]  # words; for each column the share, and the count behind it
    guarded: bool
    right: int  # observations that are right by the data file


class Part(TypedDict):
    """A part of the mean question."""

    words: str
    ms: float
    share: float  # percent
    start: float  # percent


class Bars(TypedDict):
    """The questions' times as SVG paths, on 100 units of height."""

    others: str
    slowest: str
    width: int  # questions
    longest_ms: float
    p50_ms: float  # the height of the line, from the top
    p95_ms: float


class Against(TypedDict):
    """The other run, and what differs from it."""

    name: str  # of its folder
    made: str  # when
    model: str | None
    line: str  # its verdict
    counts: list[Count]  # better, worse, different
    same: int  # questions that came out the same, word for word
    conditions: list[tuple[str, str, str]]  # a name, there, here
    figures: Figures | None
    figures_note: str  # why there are none
    outcomes: list[str]  # keys of `verdicts.OUTCOMES`, by question


class Page(TypedDict):
    """Everything that the template shows: `content.content`."""

    run: Run
    made: str  # when
    language: Language
    language_name: str
    server: Server
    servers: str  # how many shared the questions, where it is not one
    figures: Figures | None  # None where `evaluate` has measured no such run
    figures_note: str  # why
    not_r3: list[str]  # what of the request is not R3's
    negatives: Negatives | None
    negatives_note: str
    questions: list[Panel]
    verdict: Verdict
    stages: list[str]
    guarded: bool
    outcomes: list[tuple[str, str, str, int]]  # key, sign, words, questions
    signs: dict[str, tuple[str, str]]  # sign and words by outcome
    filters: list[tuple[str, str, int]]  # key, words, questions
    letters: dict[str, str]  # one for each of the filters, which the page has in its stead
    time: Times
    split: list[Part]
    bars: Bars
    limit: int  # characters of one text
    many: bool
    against: Against | None
