"""The number of inputs that a suite tried, by kind, printed at its end: a table that shrank proves less."""

from collections import Counter
from typing import Any

TRIED: dict[str, Counter[str]] = {}


def count(suite: str, kind: str, inputs: int = 1) -> None:
    """Note that `inputs` more of this kind were tried."""
    TRIED.setdefault(suite, Counter())[kind] += inputs


def report(suite: str, terminalreporter: Any) -> None:
    """Print the table of one suite; to be called from `pytest_terminal_summary` of its folder."""
    if suite not in TRIED:
        return
    terminalreporter.section(f"{suite}: inputs tried")
    for kind, number in sorted(TRIED[suite].items()):
        terminalreporter.line(f"  {number:>7}  {kind}")
    terminalreporter.line(f"  {TRIED[suite].total():>7}  in all")
