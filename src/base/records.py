"""The records that the program passes on and writes: what each field holds, its unit, and where it comes from.

Plain dictionaries at run time; the types are for the reader and for mypy. Input from outside (a reply, a file) is a
`JsonValue` until a check has established that it is one of these: `read_reply`, `runfile.read`, `catalog.load`.
"""

from collections.abc import Mapping
from typing import Literal, NotRequired, TypeAlias, TypedDict, final

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = dict[str, JsonValue]
Language = Literal["en", "es", "vi", "fr"]


# --- the data file (configs/products.schema.json) and the database made from it


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


class Query(TypedDict):
    """One question of the data file: in every language in R3's, in one at least in a reader's own."""

    id: int
    ref: str  # what it asks about; for measuring, never shown to the model
    query: NotRequired[str]  # English
    es: NotRequired[str]
    vi: NotRequired[str]
    fr: NotRequired[str]


@final
class Shop(TypedDict):
    """A data file of products and questions."""

    products: list[Product]
    queries: list[Query]


class Acceptable(TypedDict):
    """The outcomes of a hostile question that are fine."""

    read: list[str]  # references
    refusal: bool


class HostileQuestion(TypedDict):
    """One question of data/hostile.json (configs/hostile.schema.json)."""

    id: int
    kind: str  # of attempt, e.g. injection
    query: str
    acceptable: Acceptable


@final
class HostileFile(TypedDict):
    """A data file of hostile questions."""

    questions: list[HostileQuestion]


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


class Choice(TypedDict):
    """The one choice of a chat completion."""

    finish_reason: NotRequired[str | None]
    message: dict[Literal["content"], str]


class ChatCompletion(TypedDict):
    """What is read of a server's reply once configs/reply.schema.json has passed it."""

    choices: list[Choice]
    model: NotRequired[JsonValue]
    system_fingerprint: NotRequired[JsonValue]
    timings: NotRequired[JsonValue]


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


# --- the request to the model server


class Sampling(TypedDict):
    """How the server generates; sent with each request."""

    temperature: float
    seed: int
    max_tokens: int
    cache_prompt: NotRequired[bool]  # llama.cpp's extension, sent to no other server


class Message(TypedDict):
    """One message of a chat."""

    role: Literal["system", "user"]
    content: str


class NamedSchema(TypedDict):
    """A JSON schema as chat completions take it."""

    name: str
    strict: bool
    schema: Mapping[str, object]


class ResponseFormat(TypedDict):
    """The constraint on a reply."""

    type: Literal["json_schema"]
    json_schema: NamedSchema


class ChatRequest(Sampling):
    """The body of one chat completion request."""

    model: str
    messages: list[Message]


class SchemaRequest(ChatRequest):
    """The body of a request whose reply must be JSON of one form."""

    response_format: ResponseFormat


# --- the conditions of a result: `runs.provenance`, `runs.session`


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


class Digest(TypedDict):
    """A file of the model, as configs/models.lock.json pins it."""

    name: str
    sha256: str  # 64 hex digits


class Server(TypedDict):
    """What the server says about itself (`/props`, `/v1/models`); None where it says nothing."""

    requested: str  # the name sent with each question, from LLM_MODEL
    model: str | None
    quantisation: str | None
    files: list[Digest]  # of the pinned model of that name, else empty
    build: str | None
    slots: int | None  # of each replica
    replicas: NotRequired[int]  # addresses that the server's name had when the run began; all serve the same
    context_tokens: int | None  # per slot
    device: str | None
    parameters: int | None
    chat_template_sha256: str | None
    listed: NotRequired[str | None]  # what /v1/models said, where every reply named another model
    defaults: dict[str, bool | int | float | str]  # sampling settings; what is sent takes precedence


class DataFile(TypedDict):
    """The data file of a run."""

    file: str  # its name without a folder
    sha256: str


class Prompts(TypedDict):
    """The two system prompts."""

    choose: str
    word: str


class Conditions(TypedDict):
    """Everything that determines the text of an answer: `runs.conditions`."""

    server: Server
    prompts: Prompts
    schema: JsonObject  # of the first generation
    generation: Sampling
    read: str  # the SELECT
    code: str  # SHA-256 over the files that turn a question into an answer
    language: Language
    database: str  # SHA-256 before the first question
    guard_answers: bool
    wording: str | None  # SHA-256 over the checks of a sentence and their words; None without guarded wording


class Identity(Machine, Conditions):
    """What must agree before an interrupted run may be continued."""

    data: DataFile
    jobs: int  # questions in flight


class RunProvenance(Software, Identity):
    """The conditions of a run, as agent.json has them; files of earlier versions may lack some."""

    tokens_from_cache: float | None  # None where the server does not tell


class AskProvenance(Program, Conditions):
    """The conditions of one question of `ask`."""


class AskedAgain(TypedDict):
    """A question whose first exchange brought no complete reply."""

    id: int
    error: str  # of the first time


class Integrity(TypedDict):
    """Whether a run is one: of all its questions, one model and one database."""

    complete: bool  # every question has a result, and one model gave them all
    mixed: NotRequired[dict[str, list[str]]]  # the models, or builds, that the replies name where they are several
    unchanged: bool  # the database, from before the first question until after the last


class Run(Integrity):
    """agent.json (configs/agent.schema.json)."""

    provenance: RunProvenance
    asked_again: NotRequired[list[AskedAgain]]  # questions that were sent a second time
    resumed: bool
    kept: int  # results taken over from an interrupted run
    digest_before: str  # SHA-256 of the database
    digest_after: str | None  # None where it disappeared
    results: list[Result]  # in the order of the questions


class JournalHeader(TypedDict):
    """The first entry of the journal."""

    identity: Identity
    data_path: NotRequired[str]  # of the data file, relative to the folder of results


class JournalEntry(TypedDict):
    """Every further entry of the journal."""

    result: Result
    transport_failure: bool  # --resume asks the question again


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
