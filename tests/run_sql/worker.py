"""Run one case's calls on one guarded connection and print what came back, as JSON; killed from outside if it hangs.

Used by the tests of the case tables (`harness.run_case`), in a process of its own: `python -m tests.run_sql.worker`
with `{"path", "calls", "max_rows"?}` on standard input.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from src.run_sql import open_reservo, run_sql


def expand(call: Any) -> Any:
    """Return the argument a call stands for: text as it is, `parts` repeated and joined, or a `raw` value."""
    if isinstance(call, str):
        return call
    if "raw" in call:
        return call["raw"]
    texts = []
    for part in call["parts"]:
        if isinstance(part, dict):
            texts.append(",".join(f"1 AS c{number}" for number in range(part["columns"])))
        else:
            text, times = part
            texts.append(text * times)
    return "".join(texts)


def peak_kib() -> int:
    """Return the largest resident size of this process since the last reset, in KiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise RuntimeError("no VmHWM in /proc/self/status")


def main() -> None:
    """Open, call, measure, print."""
    case = json.load(sys.stdin)
    folder = Path(case["path"]).parent
    os.chdir(folder)  # a relative file name in a statement would land here, where the test looks
    queries = [expand(call) for call in case["calls"]]
    limits = {"max_rows": case["max_rows"]} if "max_rows" in case else {}
    con = open_reservo(case["path"])
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again here, after the imports and the query's text
    before = peak_kib()
    answers, seconds = [], []
    for query in queries:
        start = time.process_time()
        answers.append(run_sql(query, con, **limits))
        seconds.append(time.process_time() - start)
    peak = peak_kib() - before
    con.close()
    json.dump({"answers": answers, "seconds": seconds, "peak_kib": peak}, sys.stdout, allow_nan=False)


if __name__ == "__main__":
    main()
