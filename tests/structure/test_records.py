"""Records have types, and exceptions are caught by name: what mypy and ruff let pass is counted here.

Run alone: python -m pytest tests/structure/test_records.py
"""

import ast
from pathlib import Path

SRC = Path(__file__).resolve().parents[2] / "src"
MOST_DICTIONARIES = 30  # lines with a dictionary of anything: foreign JSON before its check
ANY_EXCEPTION = {None, "Exception", "BaseException"}


def named(handler: ast.ExceptHandler) -> set[str | None]:
    """The names of the exceptions that a handler takes; `None` for a bare `except`."""
    if handler.type is None:
        return {None}
    listed = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {ast.unparse(kind) for kind in listed}


def test_any_exception_is_caught_in_one_place_for_one_question() -> None:
    found = [
        (path.relative_to(SRC).as_posix(), function.name)
        for path in sorted(SRC.rglob("*.py"))
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for handler in ast.walk(function)
        if isinstance(handler, ast.ExceptHandler) and named(handler) & ANY_EXCEPTION
    ]
    assert found == [("agent.py", "run")]


def test_dictionaries_of_anything_are_few() -> None:
    lines = [line for path in SRC.rglob("*.py") for line in path.read_text(encoding="utf-8").splitlines()]
    assert sum("dict[str, Any]" in line for line in lines) <= MOST_DICTIONARIES
