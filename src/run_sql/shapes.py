"""The same description in the three shapes that clients take today, and a check of what is printed.

Anthropic: `ToolParam` of anthropics/anthropic-sdk-python, the shape that the lesson uses. OpenAI: an entry of `tools`
in a chat completion, `ChatCompletionFunctionToolParam` of openai/openai-python, which llama.cpp's server takes too.
MCP: `Tool` of schema/2026-07-28 of modelcontextprotocol/modelcontextprotocol.
`strict` is left out on purpose: it would need a schema other than the lesson's.
"""

from collections.abc import Callable, Mapping

from src.run_sql.records import Description

Shape = Mapping[str, object]  # a description or a JSON Schema, to be written as JSON

REFUSAL: Shape = {
    "type": "object",
    "properties": {"ok": {"const": False}, "error": {"type": "string"}},
    "required": ["ok", "error"],
    "additionalProperties": False,
}


def answer_schema(**properties: Shape) -> Shape:
    """Return the schema of a tool's answer: `ok: true` with all of `properties`, or the refusal."""
    answer = {
        "type": "object",
        "properties": {"ok": {"const": True}, **properties},
        "required": ["ok", *properties],
        "additionalProperties": False,
    }
    return {"type": "object", "oneOf": [answer, REFUSAL]}


OUTPUTS = {
    "run_sql": answer_schema(
        columns={"type": "array", "items": {"type": "string"}},
        rows={"type": "array", "items": {"type": "array", "items": {"type": ["string", "number", "null"]}}},
        truncated={"type": "boolean"},
    ),
    "count_rows": answer_schema(count={"type": "integer", "minimum": 0}),
}


def anthropic(tool: Description) -> Shape:
    """Return the tool as an entry of `tools` in Anthropic's Messages API: as it is written in the lesson."""
    return tool


def openai(tool: Description) -> Shape:
    """Return the tool as an entry of `tools` in OpenAI's chat completions."""
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]}
    return {"type": "function", "function": function}


def mcp(tool: Description) -> Shape:
    """Return the tool as an entry of the answer to MCP's `tools/list`, with the shape of what it returns."""
    return {
        "name": tool["name"],
        "description": tool["description"],
        "inputSchema": tool["input_schema"],
        "outputSchema": OUTPUTS[tool["name"]],
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }


FORMATS: dict[str, Callable[[Description], Shape]] = {"anthropic": anthropic, "openai": openai, "mcp": mcp}

NAME = {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}  # OpenAI's rule, the narrowest of the three
TEXT = {"type": "string", "minLength": 1}
OBJECT_SCHEMA = {"$ref": "https://json-schema.org/draft/2020-12/schema", "properties": {"type": {"const": "object"}}}


def closed(**properties: Shape) -> Shape:
    """Return the schema of an object with exactly these members."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


SHAPES = {
    "anthropic": closed(name=NAME, description=TEXT, input_schema=OBJECT_SCHEMA),
    "openai": closed(
        type={"const": "function"}, function=closed(name=NAME, description=TEXT, parameters=OBJECT_SCHEMA)
    ),
    "mcp": closed(
        name=NAME,
        description=TEXT,
        inputSchema=OBJECT_SCHEMA,
        outputSchema=OBJECT_SCHEMA,
        annotations=closed(readOnlyHint={"const": True}, openWorldHint={"const": False}),
    ),
}


def faults(described: Shape, form: str) -> list[str]:
    """Return what is wrong with `described` as a tool of the given format; needs the package `jsonschema`."""
    import jsonschema  # here, so that all else runs on the standard library alone

    checker = jsonschema.Draft202012Validator(SHAPES[form])
    return [f"{error.json_path}: {error.message}" for error in checker.iter_errors(described)]
