"""The records that every room passes on: what each field holds, its unit, and where it comes from.

A room that has more has them in a `records.py` of its own: `server`, `runs`, `measures`, `report`, `commands`.

Plain dictionaries at run time; the types are for the reader and for mypy. Input from outside (a reply, a file) is a
`JsonValue` until a check has established that it is one of these: `read_reply`, `runfile.read`, `catalog.load`.
"""

from typing import Literal, NotRequired, TypeAlias, TypedDict, final

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = dict[str, JsonValue]
Language = Literal["en", "es", "vi", "fr"]


# --- a row of the database, and what a tool reads


@final
class Product(TypedDict):
    """One row of the table `products`, as the data file has it and a tool reads it."""

    ref: str  # REF-000 … REF-999, or of another form: `tools.REFERENCE`
    name: str
    stock: int  # pieces, 0 or more


@final
class NotFound(TypedDict):
    """What a tool reads when no row has the reference."""

    found: Literal[False]


Observation = Product | NotFound


# --- one question on its way: `src/agent.py`


class Question(TypedDict):
    """What is asked."""

    query: str  # the text that the model is given
    id: NotRequired[int]  # of the data file; `ask` has none
    ref: NotRequired[str]  # of the data file, for measuring; `ask` and hostile questions have none


class Arguments(TypedDict):
    """The arguments of a call that the gate let through."""

    ref: str


class Call(TypedDict):
    """A call that the gate let through: `tools.toolcall` has checked keys and values."""

    outil: str  # one of `tools.TOOLS`
    arguments: Arguments


@final
class Step(TypedDict):
    """A call that was executed, and what it read."""

    call: Call
    observation: Observation


class Timings(TypedDict, total=False):
    """llama.cpp's own account of a generation; any number may be missing, and other servers send none."""

    prompt_n: float  # tokens read
    prompt_ms: float
    predicted_n: float  # tokens generated
    predicted_ms: float
    cache_n: float  # prompt tokens taken from the cache; 0 in R3


class Reply(TypedDict):
    """What is kept of a chat completion (configs/reply.schema.json); each field is what the server claims."""

    raw: str  # the model's text, as it was written
    finish_reason: str | None  # `stop`, or `length` where max_tokens cut it; the server may call them otherwise
    model: NotRequired[str]
    build: NotRequired[str]  # the completion's system_fingerprint
    timings: NotRequired[Timings]


@final
class Generation(Reply):
    """A reply and how long it took."""

    seconds: float  # from sending the request to the end of the reply, by our clock


class Delivered(TypedDict):
    """What a customer gets, with guarded wording: `wording.deliver`."""

    text: str
    source: Literal["model", "observation", "question"]  # the last: what was read does not answer the question
    reasons: list[str]  # keys of `wording.deliver.REASONS`; empty where the model's own sentence is kept


class Outcome(Question):
    """What became of a question: `agent.run`."""

    proposal: Generation | None  # None: no usable reply
    trace: list[Step]  # one step, or none where nothing was read
    answer: Generation | None  # None: refused, or the second generation failed
    error: str | None  # the message of what refused or failed
    seconds: float  # the whole question, by our clock


class Result(Outcome):
    """The same, with the sentence for the customer where the wording is guarded."""

    delivered: NotRequired[Delivered | None]  # with --guard-answers; None where nothing was read


# --- what every result file says about how it was made: `runs.provenance`


class Software(TypedDict):
    """The program that wrote a file."""

    program: str  # r3 and its version
    python: str
    sqlite: str
    time: str  # ISO 8601, UTC, whole seconds


class Machine(TypedDict):
    """The machine of the program; the server may run on another."""

    platform: str  # e.g. linux x86_64
    cpu: str  # e.g. 2 x AMD EPYC


class Program(Software, Machine):
    """What every result file says about how it was made."""


# --- what must be refused: `commands.negatives`


class Attempt(TypedDict):
    """One forbidden attempt."""

    kind: str
    attempt: object  # the call or the statement, or its repr() where JSON cannot hold it
    refused: bool
    reason: str  # the message of the refusal, or what went through


class Negatives(TypedDict):
    """negatives.json."""

    provenance: Program
    digest_before: str  # SHA-256 of the database
    digest_after: str
    unchanged: bool
    refused: int
    attempted: int
    checks: list[Attempt]
