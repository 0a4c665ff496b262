"""Fixtures of the suite about hostile questions."""

from tests.support.fixtures import prepared, project_unchanged, shop

__all__ = ["prepared", "project_unchanged", "shop"]
