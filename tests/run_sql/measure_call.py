"""What a call costs: the first, the next ones, one after a crash, and one on a connection that is not ours.

A measurement, not a test: `python -m tests.run_sql.measure_call`; milliseconds of the clock on the wall.
"""

import contextlib
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from src.run_sql import open_reservo, run_sql
from src.run_sql.database import create

QUERY = "SELECT name, capacity FROM rooms WHERE capacity >= 4 ORDER BY capacity"
LONG = f"SELECT {', '.join(f'sum(id + {number}) OVER (ORDER BY id)' for number in range(20))} FROM rooms"
BREAKING = f"SELECT DISTINCT {', '.join(['1'] * 87)} ORDER BY {', '.join(['1 + 1'] * 74)}"  # SQLite before 3.42


def median_ms(call: Callable[[], object], times: int, before: Callable[[], object] = lambda: None) -> float:
    """Return the median time of a call; `before` is called, unmeasured, before each."""
    found = []
    for _ in range(times):
        before()
        start = time.perf_counter()
        call()
        found.append((time.perf_counter() - start) * 1000)
    return statistics.median(found)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        path = create(Path(folder) / "reservo.db")
        with contextlib.closing(open_reservo(path)) as con, contextlib.closing(sqlite3.connect(path)) as plain:
            print(f"SQLite {sqlite3.sqlite_version}")
            print(f"first call of a connection      {median_ms(lambda: run_sql(QUERY, con), 1):7.2f} ms")
            print(f"each further call, median       {median_ms(lambda: run_sql(QUERY, con), 1000):7.2f} ms")
            print(f"a statement with a long program {median_ms(lambda: run_sql(LONG, con), 50):7.2f} ms")
            after = median_ms(lambda: run_sql(QUERY, con), 20, lambda: run_sql(BREAKING, con))
            print(
                f"the call after a crash          {after:7.2f} ms  ({run_sql(BREAKING, con).get('error', 'no crash')})"
            )
            print(f"a call on another's connection  {median_ms(lambda: run_sql(QUERY, plain), 20):7.2f} ms")


if __name__ == "__main__":
    main()
