"""The description in the shapes of three clients, each held against its rules, and the answers against MCP's schema.

Run alone: python -m pytest tests/run_sql/test_shapes.py
"""

import json
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest

from src.run_sql import count_rows, count_rows_tool, run_sql, run_sql_tool
from src.run_sql.guard import Reservo
from src.run_sql.records import Description
from src.run_sql.shapes import FORMATS, OUTPUTS, faults

TOOLS = [run_sql_tool, count_rows_tool]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool["name"])
@pytest.mark.parametrize("form", FORMATS)
def test_each_tool_fits_each_format(form: str, tool: Description) -> None:
    described = FORMATS[form](tool)
    assert faults(described, form) == []
    assert json.loads(json.dumps(described)) == described


def test_the_anthropic_shape_is_the_lessons_dictionary() -> None:
    assert FORMATS["anthropic"](run_sql_tool) == run_sql_tool


def test_the_openai_shape_puts_the_schema_under_parameters() -> None:
    described: Any = FORMATS["openai"](run_sql_tool)
    assert described["type"] == "function"
    assert described["function"]["parameters"] == run_sql_tool["input_schema"]


def test_the_mcp_shape_names_input_and_output_and_says_that_it_only_reads() -> None:
    described: Any = FORMATS["mcp"](run_sql_tool)
    assert described["inputSchema"] == run_sql_tool["input_schema"]
    assert described["outputSchema"]["type"] == "object"
    assert described["annotations"] == {"readOnlyHint": True, "openWorldHint": False}


BROKEN: list[tuple[str, Mapping[str, object]]] = [
    ("anthropic", {**run_sql_tool, "name": "run sql"}),
    ("anthropic", {**run_sql_tool, "input_schema": {"type": "array"}}),
    ("anthropic", {**run_sql_tool, "input_schema": {"type": "object", "required": "query"}}),
    ("anthropic", {**run_sql_tool, "parameters": {}}),
    ("openai", run_sql_tool),
    ("openai", {"type": "function", "name": "run_sql", "parameters": {"type": "object"}}),
    ("mcp", {**FORMATS["mcp"](run_sql_tool), "input_schema": {}}),
    ("mcp", {"name": "run_sql", "inputSchema": {"type": "object"}}),
]


@pytest.mark.parametrize(("form", "described"), BROKEN)
def test_a_description_of_another_shape_is_found_out(form: str, described: Mapping[str, object]) -> None:
    assert faults(described, form) != []


@pytest.mark.parametrize(
    "query", ["SELECT * FROM rooms", "SELECT 1.5, NULL, 'x', x'00', 9e999", "DELETE FROM rooms", ""]
)
def test_what_run_sql_answers_fits_the_output_schema(con: Reservo, query: str) -> None:
    checker = jsonschema.Draft202012Validator(OUTPUTS["run_sql"])
    assert [error.message for error in checker.iter_errors(run_sql(query, con))] == []
    assert list(checker.iter_errors({"ok": True, "error": "x"})) != []


@pytest.mark.parametrize("table", ["rooms", "usuarios"])
def test_what_count_rows_answers_fits_the_output_schema(con: Reservo, table: str) -> None:
    jsonschema.validate(count_rows(table, con), OUTPUTS["count_rows"])


def test_the_argument_that_a_model_sends_is_checked_by_the_input_schema() -> None:
    checker = jsonschema.Draft202012Validator(run_sql_tool["input_schema"])
    assert list(checker.iter_errors({"query": "SELECT 1"})) == []
    assert list(checker.iter_errors({})) != []
    assert list(checker.iter_errors({"query": 7})) != []
