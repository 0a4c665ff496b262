"""Settings of the generated tests: enough inputs to mean something, the same ones in every run.

HYPOTHESIS_PROFILE=deep tries thirty times as many, others each time.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.support import tally
from tests.support.project import ROOT, unchanged

SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile(
    "ci", max_examples=1200, derandomize=True, deadline=None, suppress_health_check=SLOW, database=None
)
settings.register_profile("deep", max_examples=40_000, deadline=None, suppress_health_check=SLOW, database=None)
settings.register_profile("layers", settings.get_profile("ci"), phases=[Phase.explicit, Phase.generate])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session", autouse=True)
def project_unchanged() -> Iterator[None]:
    """No test leaves a trace in the project."""
    with unchanged(ROOT):
        yield


def pytest_terminal_summary(terminalreporter: Any) -> None:
    tally.report("properties", terminalreporter)
