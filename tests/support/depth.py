"""How deep a run of the tests goes: `--quick` leaves out the tests that a marker calls deep, and the last line says so.

The markers and their reasons are in pyproject.toml, what each adds in docs/CONTRIBUTING.md. `scripts/test.sh` gives
`--quick` unless it is asked for `--all`; `python -m pytest` by itself runs whatever it is pointed at.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

DEEP = ("model", "mutation", "kill", "slow")
LEFT_OUT: pytest.StashKey[Counter[str]] = pytest.StashKey()


def few(rows: Sequence[Any], kept: int = 1, mark: str = "slow") -> list[Any]:
    """The rows of a table for `parametrize`, all but the first `kept` of them marked as deep."""
    deeper = getattr(pytest.mark, mark)
    return [
        row if place < kept else pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=deeper)
        for place, row in enumerate(rows)
    ]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--quick`."""
    parser.addoption("--quick", action="store_true", help=f"leave out the tests marked {', '.join(DEEP)}")


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the counts; the generated tests read their depth on import."""
    config.stash[LEFT_OUT] = Counter()
    if config.getoption("quick"):
        os.environ.setdefault("HYPOTHESIS_PROFILE", "quick")


def deep(item: pytest.Item) -> str:
    """The first marker that makes a test deep, or nothing."""
    return next((name for name in DEEP if item.get_closest_marker(name)), "")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the deep tests, or put the longest first, so that no worker finishes long after the others."""
    if not config.getoption("quick"):
        items.sort(key=lambda item: deep(item) != "model")
        return
    left_out = [item for item in items if deep(item)]
    config.stash[LEFT_OUT].update(map(deep, left_out))
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not deep(item)]


def not_run(left_out: Counter[str]) -> str:
    """The last line of a run: what was left out, and what runs it."""
    if not left_out:
        return ""
    kinds = ", ".join(f"{name} {left_out[name]}" for name in DEEP if left_out[name])
    return f"not run: {left_out.total()} deeper tests ({kinds}); run them too with: sh scripts/test.sh --all"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Hand the counts of a worker to the one that reports, which prints its line after everything else."""
    left_out = session.config.stash[LEFT_OUT]
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = dict(left_out)
    yield
    line = not_run(left_out)
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if line and output is None and reporter is not None:
        reporter.write_line(line)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Take over what a worker of pytest-xdist left out; all of them collect the same tests."""
    config, output = getattr(node, "config", None), getattr(node, "workeroutput", None)
    if isinstance(config, pytest.Config) and output:
        config.stash[LEFT_OUT].clear()
        config.stash[LEFT_OUT].update(output["left_out"])
