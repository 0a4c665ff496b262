"""The records of the lesson: what a tool answers, and how a tool is described to a model."""

from typing import Literal, NotRequired, TypedDict


class Answer(TypedDict):
    """What `run_sql` and `count_rows` return; either `error`, or what the tool promises."""

    ok: bool
    error: NotRequired[str]  # where not ok
    columns: NotRequired[list[str]]
    rows: NotRequired[list[list[int | float | str | None]]]
    truncated: NotRequired[bool]  # there are more rows
    count: NotRequired[int]  # of `count_rows` alone


class InputSchema(TypedDict):
    """The JSON Schema of a tool's arguments."""

    type: Literal["object"]
    properties: dict[str, dict[str, str | list[str]]]  # by the argument's name
    required: list[str]


class Description(TypedDict):
    """A tool as the lesson describes it, in the shape of Anthropic's Messages API."""

    name: str
    description: str
    input_schema: InputSchema
