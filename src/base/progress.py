"""Progress over bytes: a bar on a terminal, a plain line every few seconds elsewhere (logs, CI).

Written to stderr, so that stdout holds results only. Without a terminal no colour and no cursor movement;
work that takes less than the first few seconds prints nothing.
"""

import os
import sys
import time
from types import TracebackType
from typing import Any, Self

from src.base import environment

BAR_AFTER_S = 1.0  # what takes less, such as the check of a small file, shows no bar
LINE_EVERY_S = 5.0  # plain lines: often enough to show progress, rarely enough for the log of a 4 GB download


def bar(**how: Any) -> Any:
    """Return a tqdm bar; tqdm's own environment variables do not apply, since a wrong one would be a traceback."""
    with environment.changed({name: None for name in os.environ if name.startswith("TQDM_")}):  # read on import
        from tqdm import tqdm

    return tqdm(**how)


class Bytes:
    """Counts bytes towards `total`, starting at `start`; call it with the size of each block.

    Example: `with Bytes("download x.gguf", total=98362432) as progress: progress(1048576)`.
    """

    def __init__(self, label: str, total: int, start: int = 0) -> None:
        self.label, self.total, self.done = label, total, start
        self._bar = None
        self._next_line = time.monotonic() + LINE_EVERY_S
        if sys.stderr.isatty():
            self._bar = bar(desc=label, total=total, initial=start, unit="B", unit_scale=True, delay=BAR_AFTER_S)

    def __call__(self, count: int) -> None:
        """Add `count` bytes; a negative count takes back what had to be discarded."""
        self.done += count
        if self._bar is not None:
            self._bar.update(count)
        elif time.monotonic() >= self._next_line:
            print(f"{self.label}: {self.done} of {self.total} bytes", file=sys.stderr, flush=True)
            self._next_line = time.monotonic() + LINE_EVERY_S

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
