"""Fixtures of the suite that interrupts runs."""

from tests.support.fixtures import prepared, project_unchanged, shop, whole_run

__all__ = ["prepared", "project_unchanged", "shop", "whole_run"]
