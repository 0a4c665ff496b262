"""Fixtures of the suite that breaks the program on purpose, in copies of it."""

from tests.support.fixtures import prepared, project_unchanged

__all__ = ["prepared", "project_unchanged"]
