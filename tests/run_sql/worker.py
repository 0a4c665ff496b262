"""Run one case's calls in this process with the guards that the case names, and send what came back; for tests that
take guards away.

A process of its own for each case, forked from one that has made the imports, killed from outside if it hangs. A case
is `{"path", "calls"}`; `layers` names those of the engine that stay, `limits` says whether the system's are set,
`clocks` are its seconds, `mode` may be `rw`, `text` false.
"""

import os
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from src.run_sql import engine, serve
from src.run_sql.records import Answer
from src.run_sql.text import split_statement, text_fault
from src.run_sql.tool import MAX_ROWS


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


def answered(query: Any, case: dict[str, Any]) -> Answer:
    """Return the answer to one call, past the checks on arguments."""
    fault = "no text" if type(query) is not str else text_fault(query) if case.get("text", True) else None
    if fault:
        return {"ok": False, "error": fault}
    wanted = case.get("layers")
    layers = tuple(layer for layer in engine.LAYERS if wanted is None or layer.__name__ in wanted)
    statement = split_statement(query).body
    return engine.outcome(Path(case["path"]), statement, MAX_ROWS, case.get("mode", "ro"), layers).answer


def work(case: dict[str, Any], to: Connection) -> None:
    """Run, measure, send."""
    os.chdir(Path(case["path"]).parent)  # a relative file name in a statement would land here, where the test looks
    queries = [expand(call) for call in case["calls"]]
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again here, after imports and the query's own text
    if case.get("limits"):
        serve.limit_process()
    serve.set_clocks(*case.get("clocks", (0, 0)))
    answers = [answered(query, case) for query in queries]
    to.send({"answers": answers, "peak_kib": peak_kib()})
