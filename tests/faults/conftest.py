"""Fixtures of the suite that puts a broken server behind the command line."""

from tests.support.fixtures import prepared, project_unchanged, shop, whole_run

__all__ = ["prepared", "project_unchanged", "shop", "whole_run"]
