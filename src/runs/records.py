"""The records of the files: the data file that is asked about, and what a run writes with its conditions.

One question on its way is in `src/base/records.py`, which the rooms below know as well.
"""

from typing import NotRequired, TypedDict, final

from src.base.records import JsonObject, Language, Machine, Product, Program, Result, Software
from src.server.records import Sampling

# --- the data file (configs/products.schema.json), or one of hostile questions


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


# --- the conditions of a result: `runs.provenance`, `runs.session`


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


# --- a run: agent.json, and its journal until it is complete


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
