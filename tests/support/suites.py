"""Progress that a person can read, `--suites`: a line for each finished suite, and each failure at once.

A suite is a folder below `tests/`; its time is the sum of its tests', which several workers share.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator

import pytest

NAME = "suites"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--suites`."""
    parser.addoption("--suites", action="store_true", help="print a line for each suite instead of a dot for each test")


@pytest.hookimpl(trylast=True)  # the reporter comes first
def pytest_configure(config: pytest.Config) -> None:
    """Print where the reports are collected, which is never a worker."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if config.getoption("suites") and reporter is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Suites(reporter), NAME)


def suite_of(nodeid: str) -> str:
    """The suite of a test: `tests/cli` for a test in that folder, `tests` for the public tests."""
    return "/".join(nodeid.partition("::")[0].split("/")[:-1][:2])


class Suites:
    """Counts what is done of each suite."""

    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self.reporter = reporter
        self.expected: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.seconds: dict[str, float] = {}
        self.outcomes: dict[str, Counter[str]] = {}
        self.over = False

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Without workers the tests are collected here."""
        self.expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:
        """With workers each collects the same tests."""
        self.expect(ids)

    def expect(self, nodeids: Iterable[str]) -> None:
        """Note what is to come."""
        self.expected = Counter(map(suite_of, nodeids)) or self.expected

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Generator[None, tuple[str, str, str], tuple[str, str, str]]:
        """Count as usual, and print no letter while the tests run."""
        category, letter, word = yield
        return (category, letter, word) if self.over else (category, "", "")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Show a failure, and the suite when this was the last of it."""
        suite = suite_of(report.nodeid)
        self.seconds[suite] = self.seconds.get(suite, 0.0) + report.duration
        outcomes = self.outcomes.setdefault(suite, Counter())
        if report.failed:
            self.reporter.ensure_newline()
            self.reporter.write_sep("_", f"FAILED {report.nodeid} ({report.when})", red=True)
            report.toterminal(self.reporter._tw)
        part = hasattr(report, "context")  # a subTest, which is not counted as a test
        if not part and (report.when == "call" or not report.passed):
            outcomes[report.outcome] += 1
        if report.when == "teardown":
            self.done[suite] += 1
            if self.done[suite] == self.expected[suite]:
                self.line(suite)

    def line(self, suite: str) -> None:
        """Print the line of a suite."""
        counts = ", ".join(f"{number} {outcome}" for outcome, number in sorted(self.outcomes[suite].items()))
        missing = self.expected[suite] - self.done[suite]
        more = f", {missing} not reached" if missing else ""
        self.reporter.ensure_newline()
        self.reporter.write_line(f"{suite:<18} {self.seconds[suite]:>6.1f} s  {counts}{more}")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        """Show the suites that were not finished; failures have been shown already."""
        for suite in self.outcomes:
            if self.done[suite] < self.expected[suite]:
                self.line(suite)
        self.over = True
        session.config.option.tbstyle = "no"
        yield
