"""Looking things up in the result of a question, as `agent.run()` returns it."""

from typing import Any


def observed(result: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the tool read for this question, or `None` when no call was executed."""
    return result["trace"][0]["observation"] if result["trace"] else None
