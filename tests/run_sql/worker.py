"""Run one case's calls on one guarded connection and send what came back; killed from outside if it hangs.

A process of its own for each case, forked from one that has made the imports. A case is `{"path", "calls"}` and
perhaps `max_rows`. A test that takes guards away names the layers that stay in `layers`, or sets `mode` to `rw`, or
`text` to false.
"""

import os
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from src.run_sql import guard, tool


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


def opened(case: dict[str, Any]) -> guard.Reservo:
    """Open the case's file with the guards that the case asks for; all of them if it says nothing."""
    if not case.get("text", True):
        vars(tool)["text_fault"] = lambda sql: None
    wanted = case.get("layers")
    layers = tuple(layer for layer in guard.LAYERS if wanted is None or layer.__name__ in wanted)
    return guard.connect(case["path"], case.get("mode", "ro"), layers)


def work(case: dict[str, Any], to: Connection) -> None:
    """Open, call, measure, send."""
    os.chdir(Path(case["path"]).parent)  # a relative file name in a statement would land here, where the test looks
    queries = [expand(call) for call in case["calls"]]
    limits = {"max_rows": case["max_rows"]} if "max_rows" in case else {}
    con = opened(case)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again here, after imports and the query's own text
    before = peak_kib()
    answers, seconds = [], []
    for query in queries:
        start = time.process_time()
        answers.append(tool.run_sql(query, con, **limits))
        seconds.append(time.process_time() - start)
    peak = peak_kib() - before
    con.close()
    to.send({"answers": answers, "seconds": seconds, "peak_kib": peak})
