"""The number of inputs that a suite tried, by kind, printed at the end of a run: a table that shrank proves less."""

from collections import Counter

import pytest

TRIED: dict[str, Counter[str]] = {}
LARGEST: dict[str, tuple[float, str]] = {}  # the largest value of a measure, with the name of the case


def count(suite: str, kind: str, inputs: int = 1) -> None:
    """Note that `inputs` more of this kind were tried."""
    TRIED.setdefault(suite, Counter())[kind] += inputs


def record(measure: str, value: float, name: str) -> None:
    """Keep the largest value of a measure, with the name of the case."""
    LARGEST[measure] = max(LARGEST.get(measure, (0.0, "")), (value, name))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand a worker's counts to the process that reports."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["tried"] = {suite: dict(kinds) for suite, kinds in TRIED.items()}
        output["largest"] = LARGEST


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Add what a worker of pytest-xdist counted."""
    output = getattr(node, "workeroutput", None) or {}
    for suite, kinds in output.get("tried", {}).items():
        for kind, inputs in kinds.items():
            count(suite, kind, inputs)
    for measure, (value, name) in output.get("largest", {}).items():
        record(measure, value, name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the tables, but not after a quick run, where a reader wants one line."""
    if config.getoption("quick"):
        return
    for suite, kinds in sorted(TRIED.items()):
        terminalreporter.section(f"{suite}: inputs tried")
        for kind, number in sorted(kinds.items()):
            terminalreporter.write_line(f"  {number:>7}  {kind}")
        terminalreporter.write_line(f"  {kinds.total():>7}  in all")
    for measure, (value, name) in sorted(LARGEST.items()):
        terminalreporter.write_line(f"  {value:>7.2f}  largest {measure} ({name})")
