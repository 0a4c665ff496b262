"""The records of a chat completion: what is sent to a model server and what it sends back, as OpenAI names it."""

from collections.abc import Mapping
from typing import Literal, NotRequired, TypedDict

from src.base.records import JsonValue


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
