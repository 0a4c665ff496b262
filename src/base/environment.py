"""Changes this process's environment for the duration of a block, for a library or a child that reads it."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def changed(values: Mapping[str, str | None]) -> Iterator[None]:
    """Set these variables, or unset those that are `None`; afterwards all are restored."""
    before = {name: os.environ.get(name) for name in values}
    _apply(values)
    try:
        yield
    finally:
        _apply(before)


def _apply(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
