"""How deep a run of the tests goes: `--quick` leaves out the tests that a marker calls deep; the last line counts both.

The markers and their reasons are in pyproject.toml, what each adds in docs/CONTRIBUTING.md. `scripts/test.sh` gives
`--quick` unless it is asked for `--all`; `python -m pytest` by itself runs whatever it is pointed at.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

DEEP = ("model", "mutation", "kill", "slow")
COUNTS: pytest.StashKey[Counter[str]] = pytest.StashKey()  # the tests that were collected, by marker; "" for the quick


def few(rows: Sequence[Any], kept: int = 1, mark: str = "slow") -> list[Any]:
    """The rows of a table for `parametrize`, all but the first `kept` of them marked as deep."""
    deeper = getattr(pytest.mark, mark)
    return [
        row if place < kept else pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=deeper)
        for place, row in enumerate(rows)
    ]


def spread(rows: Iterable[Any], kept: int) -> list[Any]:
    """The rows of a long table for `parametrize`: `kept` of them, from all over it, stay in the quick depth."""
    table = list(rows)
    chosen = {place * len(table) // kept for place in range(kept)}
    return [row if place in chosen else pytest.param(row, marks=pytest.mark.slow) for place, row in enumerate(table)]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--quick`."""
    parser.addoption("--quick", action="store_true", help=f"leave out the tests marked {', '.join(DEEP)}")


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the counts; the generated tests read their depth on import."""
    config.stash[COUNTS] = Counter()
    if config.getoption("quick"):
        os.environ.setdefault("HYPOTHESIS_PROFILE", "quick")


def deep(item: pytest.Item) -> str:
    """The first marker that makes a test deep, or nothing."""
    return next((name for name in DEEP if item.get_closest_marker(name)), "")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the deep tests, or put the longest first, so that no worker finishes long after the others."""
    config.stash[COUNTS].update(map(deep, items))
    if not config.getoption("quick"):
        items.sort(key=lambda item: deep(item) != "model")
        return
    config.hook.pytest_deselected(items=[item for item in items if deep(item)])
    items[:] = [item for item in items if not deep(item)]


def counted(counts: Counter[str], quick: bool) -> str:
    """The last line of a run: how many tests of each depth there are, and what runs those that were left out."""
    deeper = counts.total() - counts[""]
    kinds = ", ".join(f"{name} {counts[name]}" for name in DEEP if counts[name])
    if not deeper:
        return f"run: {counts['']} quick tests"
    if not quick:
        return f"run: {counts['']} quick tests and {deeper} deeper ({kinds})"
    return f"run: {counts['']} quick tests; not run: {deeper} deeper ({kinds}): sh scripts/test.sh --all"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Hand the counts of a worker to the one that reports, which prints its line after everything else."""
    counts = session.config.stash[COUNTS]
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["depths"] = dict(counts)
    yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if output is None and counts and reporter is not None and session.config.getoption("suites"):
        reporter.write_line(counted(counts, session.config.getoption("quick")))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Half as many workers again as there are cores: a third of the time of these tests is waiting for time-outs."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # pytest-xdist takes that number
    return max(2, 3 * (os.cpu_count() or 1) // 2)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Take over what a worker of pytest-xdist counted; all of them collect the same tests."""
    config, output = getattr(node, "config", None), getattr(node, "workeroutput", None)
    if isinstance(config, pytest.Config) and output:
        config.stash[COUNTS].clear()
        config.stash[COUNTS].update(output["depths"])
