"""Many model servers, one client: where one process stops feeding them; and how a long run grows. No model is asked.

    python scripts/bench.py --fleet         # stand-in servers that take 250 ms for a reply, four slots each
    python scripts/bench.py --growth        # 100, 1,000 and 10,000 questions in one run, about 1,000 products

The servers answer in processes of their own on this machine's loopback and share its processors with the client, so
the client is the worse off the more of them there are; its own processor time stands beside.
"""

import json
import os
import random
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # a script's own folder is on the path, the project is not

from src.commands import prepare  # noqa: E402
from src.runs import catalog, session, store  # noqa: E402
from src.runs.outputs import Outputs  # noqa: E402
from src.runs.records import Identity  # noqa: E402

REFERENCE = re.compile("REF-[0-9]{3}")
SERVER = ROOT / "tests" / "support" / "instant_server.py"
NAME = "fleet.test"
SLOTS = 4
REPLY_MS = 250.0
REPLIES = 2  # of a question: the proposal and the wording
PER_SLOT = 20  # questions, so that the beginning and the end of a run weigh little
PER_PROCESS = 16  # servers; one interpreter would not keep up with 64
CARD_MS = 247.3  # a question on an RTX 3090 by the published figures, one at a time

Row = dict[str, Any]


def questions(folder: Path, count: int) -> Path:
    """A data file of every possible reference and so many questions: the project's, about each product in turn."""
    products = [
        {"ref": f"REF-{place:03}", "name": f"Produit {place}", "stock": place * 37 % 121} for place in range(1000)
    ]
    known = catalog.shop()["queries"]
    asked = []
    for number in range(count):
        product = products[number % len(products)]["ref"]
        words = {key: REFERENCE.sub(str(product), str(value)) for key, value in known[number % len(known)].items()}
        asked.append({**words, "id": number})
    return store.write_json(folder / "questions.json", {"products": products, "queries": asked})


def ask(data: Path, folder: Path, in_flight: int, addresses: list[str], port: int) -> Row:
    """Ask everything in this process; the servers' name has all their addresses, in another order each time."""
    known = socket.getaddrinfo

    def resolve(host: Any, *args: Any, **kinds: Any) -> Any:
        if host != NAME:
            return known(host, *args, **kinds)
        found = random.sample(addresses, len(addresses))
        return [entry for address in found for entry in known(address, *args, **kinds)]

    socket.getaddrinfo = resolve
    os.environ["LLM_BASE_URL"] = f"http://{NAME}:{port}"
    outputs = Outputs(folder)
    prepare.prepare(outputs, data)
    run = session.begin(outputs, data, "en", lambda _: None, in_flight=in_flight)
    start, before = time.perf_counter(), time.process_time()
    session.work(run, lambda _: None)
    return {
        "seconds": time.perf_counter() - start,
        "processor_s": time.process_time() - before,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "errors": sum(result["error"] is not None for result in run.results),
        "agent_json_mb": outputs.json("agent").stat().st_size / 1e6,
    }


def client(data: Path, folder: Path, in_flight: int, addresses: list[str], port: int) -> Row:
    """`ask` in a process of its own."""
    words = [str(data), str(folder), str(in_flight), ",".join(addresses), str(port)]
    done = subprocess.run([sys.executable, __file__, *words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the client ended with {done.returncode}: {done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def served(addresses: list[str], reply_ms: float, port: int) -> "list[subprocess.Popen[str]]":
    """Servers on these addresses of the loopback, all on one port, a few in each process."""
    started = []
    for first in range(0, len(addresses), PER_PROCESS):
        part = addresses[first : first + PER_PROCESS]
        words = [str(SLOTS), str(reply_ms), *(f"{address}:{port}" for address in part)]
        child = subprocess.Popen(
            [sys.executable, str(SERVER), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(child)
        for _ in part:
            if child.stdout is None or not child.stdout.readline():
                raise RuntimeError("a stand-in server did not start")
    return started


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def one_run(servers: int, count: int, reply_ms: float, in_flight: int, folder: Path) -> Row:
    """One run of `count` questions over so many servers."""
    addresses, port = [f"127.0.1.{number}" for number in range(1, servers + 1)], free_port()
    children = served(addresses, reply_ms, port)
    try:
        return client(questions(folder, count), folder / "run", in_flight, addresses, port)
    finally:
        for child in children:
            child.communicate()  # closes its standard input, which ends it


def fleet(sizes: tuple[int, ...] = (1, 4, 16, 64), reply_ms: float = REPLY_MS, per_slot: int = PER_SLOT) -> list[Row]:
    """As many questions in flight as there are slots, on more and more servers."""
    rows = []
    for servers in sizes:
        slots = servers * SLOTS
        with tempfile.TemporaryDirectory() as name:
            made = one_run(servers, slots * per_slot, reply_ms, slots, Path(name))
        rate, ideal = slots * per_slot / made["seconds"], slots * 1000 / (REPLIES * reply_ms)
        rows.append({
            "servers": servers, "in_flight": slots, "questions_a_second": rate, "share_of_ideal": rate / ideal,
            "processor_share": made["processor_s"] / made["seconds"], "cards": rate * CARD_MS / 1000, **made,
        })  # fmt: skip
        print(
            f"{servers:>3} servers, {slots:>3} in flight: {rate:.1f} questions/s, {100 * rate / ideal:.1f} % of ideal, "
            f"client {100 * rows[-1]['processor_share']:3.0f} % of a processor, {made['peak_mb']:4.0f} MB, "
            f"{made['errors']} errors; as many as {rows[-1]['cards']:.0f} RTX 3090 answer",
            flush=True,
        )
    return rows


def growth(counts: tuple[int, ...] = (100, 1000, 10_000)) -> list[Row]:
    """One run of more and more questions, and what each of its steps costs."""
    rows = []
    for count in counts:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            made = one_run(4, count, 0.0, 4, folder)
            row: Row = {"questions": count, **made, "agent": (made["processor_s"], made["seconds"], made["peak_mb"])}
            data = ("--data", str(folder / "questions.json"))
            shutil.copytree(folder / "run", folder / "other")
            row["prepare"] = step(folder / "new", "prepare", *data)
            row["evaluate"] = step(folder / "run", "evaluate", *data)
            row["compare"] = step(folder / "run", "evaluate", *data, "--against", str(folder / "other"))
            row["report"] = step(folder / "run", "report")
            row["page_mb"] = (folder / "run" / "report.html").stat().st_size / 1e6
            row["resume_s"] = resumed(folder)
        rows.append(row)
        steps = "; ".join(
            "{} {:.1f} s ({:.1f} s), {:.0f} MB".format(name, *row[name])
            for name in ("prepare", "agent", "evaluate", "compare", "report")
        )
        print(
            f"{count:>6} questions, processor time (wall clock), peak memory: {steps}; reading the journal again "
            f"{row['resume_s']:.1f} s; agent.json {row['agent_json_mb']:.1f} MB, page {row['page_mb']:.1f} MB",
            flush=True,
        )
    return rows


def step(outputs: Path, *command: str) -> tuple[float, float, float]:
    """Seconds of a processor and of the clock, and peak memory in MB, of a command on the results in `outputs`."""
    # By its own account: what the system says of a child's memory includes its parent's.
    code = (
        "import atexit, runpy, sys; atexit.register(lambda: sys.stderr.write(open('/proc/self/status').read())); "
        "runpy.run_module('src.cli', run_name='__main__')"
    )
    words, start, before = ["--outputs", str(outputs), *command], time.perf_counter(), os.times()
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True)
    seconds, after = time.perf_counter() - start, os.times()
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[:2000]}")
    peak = next(line for line in done.stderr.splitlines() if line.startswith("VmHWM"))
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, seconds, int(peak.split()[1]) / 1024


def resumed(folder: Path) -> float:
    """Seconds of a processor to read a journal of all these results, as `agent --resume` does."""
    from src.runs import recovery

    outputs = Outputs(folder / "run")
    made = json.loads(outputs.json("agent").read_text(encoding="utf-8"))
    names = Identity.__annotations__
    identity = {name: value for name, value in made["provenance"].items() if name in names}
    entries = [{"identity": identity}, *({"result": r, "transport_failure": False} for r in made["results"])]
    with store.Journal(outputs.journal).writing(entries):
        pass
    run = session.Run(outputs, identity, catalog.questions(catalog.load(folder / "questions.json"), "en"))  # type: ignore[arg-type]
    start = time.process_time()
    recovery.resume(run, lambda _: None)
    if run.missing:
        raise RuntimeError(f"{len(run.missing)} questions are missing after --resume")
    return time.process_time() - start


if __name__ == "__main__":
    given = sys.argv[1:]
    print(json.dumps(ask(Path(given[0]), Path(given[1]), int(given[2]), given[3].split(","), int(given[4]))))
