"""The project is the same after the generated tests; importing `generated` sets how many inputs they try."""

from collections.abc import Iterator

import pytest

from tests.support import generated
from tests.support.project import ROOT, unchanged

__all__ = ["generated", "project_unchanged"]


@pytest.fixture(scope="session", autouse=True)
def project_unchanged() -> Iterator[None]:
    """No test leaves a trace in the project."""
    with unchanged(ROOT):
        yield
