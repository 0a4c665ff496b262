"""What our code costs: client, gate, start-up, memory, and questions in flight. Prints a table, writes bench.json.

    python scripts/bench.py                 # a to d, with a local server that answers at once
    python scripts/bench.py --real          # and the real model: a again as a ratio, and e (minutes)
    python scripts/bench.py --fleet         # instead: one client and more and more servers, scripts/bench_fleet.py

Times are wall clock on this machine with whatever else runs on it; the load is in the record, and beside the client
and the commands stands their processor time, which a busy machine distorts less. Targets are printed, never enforced.
"""

import argparse
import contextlib
import http.client
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # a script's own folder is on the path, the project is not

from scripts import bench_fleet  # noqa: E402
from src import agent  # noqa: E402
from src.base.records import Question, Reply  # noqa: E402
from src.commands import prepare  # noqa: E402
from src.measures import compare  # noqa: E402
from src.runs import catalog, database, provenance, session, store  # noqa: E402
from src.runs.outputs import Outputs  # noqa: E402
from src.server import client, embedded  # noqa: E402
from src.server.records import ChatRequest  # noqa: E402
from src.tools import TOOLS, toolcall  # noqa: E402
from src.wording import check  # noqa: E402
from tests.wording import sentences  # noqa: E402

SERVER = ROOT / "tests" / "support" / "instant_server.py"
CALL = {"outil": "consulter_stock", "arguments": {"ref": "REF-000"}}
CALLS = {
    "found": CALL,
    "unknown": {"outil": "consulter_stock", "arguments": {"ref": "REF-999"}},
    "refused": {"outil": "delete", "arguments": {"ref": "REF-000"}},
}
CALLS_TIMED = 2000  # in one go, so that the clock's own cost does not count
TARGETS = {
    "client, added, ms a question": 3.0,
    "toolcall, us": 15.0,
    "guard, ms a sentence": 0.2,
    "--help, s": 0.15,
    "negatives, s": 0.15,
    "exercise, s": 0.15,
    "prepare, s": 0.35,
}

Row = dict[str, Any]


def row(what: str, values: Sequence[float], unit: str, **more: Any) -> Row:
    """One figure: its median, 10th and 90th percentile over the repetitions, and its target if it has one."""
    low, high = (quantiles(values, n=10)[0], quantiles(values, n=10)[-1]) if len(values) > 1 else (values[0],) * 2
    name = f"{what}, {unit}"
    figures = {"median": median(values), "p10": low, "p90": high}
    return {"what": name, **figures, "repetitions": len(values), "target": TARGETS.get(name), **more}


@contextlib.contextmanager
def instant_server(slots: int = 1) -> Iterator[str]:
    """The server that answers at once, in a process of its own so that it shares no interpreter with the client."""
    command = [sys.executable, str(SERVER), str(slots)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        if child.stdout is None or child.stdin is None:
            raise RuntimeError("the server has no pipes")
        url = child.stdout.readline().strip()
        os.environ["LLM_BASE_URL"] = url
        try:
            yield url
        finally:
            child.stdin.close()


def bodies_of(db: sqlite3.Connection, question: Question) -> list[bytes]:
    """The two request bodies that the route sends for a question, taken from the route itself."""
    sent: list[bytes] = []
    server = client.current()
    original = server.chat

    def record(body: ChatRequest) -> Reply:
        sent.append(json.dumps(body).encode())
        return original(body)

    server.chat = record  # type: ignore[method-assign]
    try:
        agent.run(db, question)
    finally:
        del server.chat
    return sent


Pair = tuple[float, float]


def pairs(
    outputs: Outputs,
    questions: Sequence[Question],
    repetitions: int,
    clock: Callable[[], float] = time.perf_counter,
    keep: bool = True,
) -> list[Pair]:
    """Seconds of each question by the route and bare, one after the other, each of the two going first in turn.

    The bare loop keeps one connection. Without `keep` it takes a new one for each question: a real server closes a
    connection that is idle for as long as the route's question takes.
    """
    address = urlsplit(os.environ["LLM_BASE_URL"]).netloc
    bare_connection = http.client.HTTPConnection(address)
    db = database.connect(outputs)
    bodies = [bodies_of(db, question) for question in questions]

    def bare(place: int) -> None:
        for body in bodies[place]:
            bare_connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
            bare_connection.getresponse().read()

    def timed(work: Callable[[], object]) -> float:
        if not keep:
            bare_connection.close()
        start = clock()
        work()
        return clock() - start

    bare(0)  # opens the connection
    measured = []
    for number in range(repetitions):
        place = number % len(questions)
        route = lambda: agent.run(db, questions[place])  # noqa: B023, E731
        loop = lambda: bare(place)  # noqa: B023, E731
        if number % 2:
            route_s, bare_s = timed(route), timed(loop)
        else:
            bare_s, route_s = timed(loop), timed(route)
        measured.append((route_s, bare_s))
    db.close()
    return measured


def client_cost(outputs: Outputs, repetitions: int) -> list[Row]:
    """(a) The route against a bare loop, on the server that answers at once."""
    questions = catalog.questions(catalog.load(), "en")
    with instant_server():
        pairs(outputs, questions, len(questions))  # fills caches
        measured = pairs(outputs, questions, repetitions)
        processor = pairs(outputs, questions, repetitions, time.thread_time)
    return [
        row("client, added", [1000 * (route - bare) for route, bare in measured], "ms a question"),
        row("client, whole", [1000 * route for route, _ in measured], "ms a question"),
        row("client, bare loop", [1000 * bare for _, bare in measured], "ms a question"),
        row("client, added processor time", [1000 * (route - bare) for route, bare in processor], "ms a question"),
    ]


def gate_cost(outputs: Outputs) -> list[Row]:
    """(b) One `toolcall`, for each way it can end; the row with the target is the one that reads a product."""
    db = database.connect(outputs)

    def attempt(call: Row) -> None:
        with contextlib.suppress(ValueError):
            toolcall(db, call)

    rows = []
    for name, call in CALLS.items():
        each = timeit.repeat(partial(attempt, call), number=CALLS_TIMED, repeat=30)
        values = [seconds / CALLS_TIMED * 1e6 for seconds in each]
        rows.append(row("toolcall" if name == "found" else f"toolcall, {name}", values, "us"))
    db.close()
    return rows


def guard_cost() -> list[Row]:
    """One sentence decided by the guard: the mean over our labelled sentences, each read before."""
    cases = [(text, observation, sentences.ref_of(observation)) for _, _, _, observation, text in sentences.own()]

    def decide() -> None:
        for text, observation, ref in cases:
            check.faults(text, observation, ref)

    decide()
    return [
        row("guard", [1000 * each / len(cases) for each in timeit.repeat(decide, number=1, repeat=30)], "ms a sentence")
    ]


def process(arguments: Sequence[str]) -> Pair:
    """Run a command and return its seconds, by the clock and of the processor; it must end with status 0."""
    before, start = os.times(), time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True)
    seconds, after = time.perf_counter() - start, os.times()
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    user, system = (after[place] - before[place] for place in (2, 3))  # of the children that have ended
    return seconds, user + system


def peak_mb(arguments: Sequence[str]) -> float:
    """Run a command once more and return its peak memory, by its own account: a child's includes its parent's."""
    code = (
        "import atexit, runpy, sys; atexit.register(lambda: sys.stderr.write(open('/proc/self/status').read())); "
        f"sys.argv[1:] = {list(arguments)!r}; runpy.run_module('src.cli', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    line = next(line for line in done.stderr.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def command_cost(folder: Path, repetitions: int) -> list[Row]:
    """(c), (d) Start-up and peak memory of each command; `agent` and `ask` against the server that answers at once."""
    fresh = iter(range(10_000))
    outputs = str(folder)
    ask = ["ask", "What is the stock level for REF-000?"]
    commands: dict[str, Callable[[], list[str]]] = {
        "--help": lambda: ["--help"],
        "prepare": lambda: ["--outputs", str(folder / f"fresh-{next(fresh)}"), "prepare"],
        "agent (30 questions)": lambda: ["--outputs", outputs, "agent"],
        "negatives": lambda: ["--outputs", outputs, "negatives"],
        "evaluate": lambda: ["--outputs", outputs, "evaluate"],
        "exercise": lambda: ["--outputs", outputs, "exercise"],
        "ask": lambda: ["--outputs", outputs, *ask],
        "report": lambda: ["--outputs", outputs, "report"],
    }
    rows = [row("python -c pass", [process(["-c", "pass"])[0] for _ in range(repetitions)], "s")]
    with instant_server():
        for name, arguments in commands.items():
            process(["-m", "src.cli", *arguments()])
            made = [process(["-m", "src.cli", *arguments()]) for _ in range(repetitions)]
            more = {"processor_s": median(processor for _, processor in made), "peak_mb": peak_mb(arguments())}
            rows.append(row(name, [seconds for seconds, _ in made], "s", **more))
    return rows


def real_cost(outputs: Outputs, repetitions: int, log: Path) -> list[Row]:
    """(a) again on the real model: the route's time as a multiple of the bare loop's."""
    questions = catalog.questions(catalog.load(), "en")
    with embedded.running(log, print):
        measured = pairs(outputs, questions[: max(1, repetitions)], repetitions, keep=False)
    return [row("client on the real model, route / bare loop", [route / bare for route, bare in measured], "ratio")]


def white_space_cost(log: Path) -> list[Row]:
    """Tokens of a French proposal under R3's schema, which allows white space, and under a grammar that forbids it."""
    tools = " | ".join(json.dumps(json.dumps(name)) for name in TOOLS)
    grammar = f'root ::= "{{\\"outil\\":" ({tools}) ",\\"arguments\\":{{\\"ref\\":\\"REF-" [0-9] [0-9] [0-9] "\\"}}}}"'
    questions = catalog.questions(catalog.load(), "fr")
    tokens: dict[str, list[float]] = {"schema": [], "grammar": []}
    cut = dict.fromkeys(tokens, 0)
    with embedded.running(log, print):
        server = client.current()
        for question in questions:
            asked: dict[str, Any] = dict(
                agent.request(server.config.model, agent.CHOOSE, question["query"], agent.SCHEMA, "proposal")
            )
            bodies = {"schema": asked, "grammar": {**asked, "grammar": grammar}}
            del bodies["grammar"]["response_format"]  # llama.cpp takes one of the two
            for name, body in bodies.items():
                reply = server.chat(body)  # type: ignore[arg-type]  # `grammar` is an extension of llama.cpp
                tokens[name].append(float(reply["timings"]["predicted_n"]))
                cut[name] += reply["finish_reason"] != "stop"
    rows = [row(f"a proposal in French, under the {name}", values, "tokens") for name, values in tokens.items()]
    return rows + [
        row(f"of {len(questions)} cut, under the {name}", [float(count)], "proposals") for name, count in cut.items()
    ]


def in_flight(folder: Path, count: int, jobs: int) -> list[Row]:
    """(e) The same questions one at a time on one slot, and `jobs` at a time on as many slots; answers compared."""
    data = catalog.shop()
    fewer = store.write_json(folder / "questions.json", {**data, "queries": data["queries"][:count]})
    runs, rows = [], []
    for number in (1, jobs):
        outputs = Outputs(folder / f"jobs-{number}")
        prepare.prepare(outputs, fewer)
        with embedded.running(outputs.folder / "server.log", print, slots=number):
            run = session.begin(outputs, fewer, "en", print, in_flight=number)
            start = time.perf_counter()
            session.work(run, lambda _: None)
            seconds = time.perf_counter() - start
        runs.append(json.loads(outputs.json("agent").read_text(encoding="utf-8")))
        rows.append(row(f"throughput with --jobs {number}", [60 * count / seconds], "questions a minute"))
    changes = compare.changed(runs)
    for stage in ("proposal", "observation", "answer"):
        differing = [change["id"] for change in changes if stage in change]
        rows.append({**row(f"{stage}s that differ", [float(len(differing))], "questions"), "ids": differing})
    return rows


def table(rows: Sequence[Row]) -> str:
    """The rows as text, in columns."""
    head = f"{'':<48} {'median':>9} {'p10':>9} {'p90':>9} {'target':>8} {'CPU s':>8} {'peak MB':>8}"
    lines = [head, "-" * len(head)]
    for item in rows:
        target = f"{item['target']:g}" if item["target"] is not None else ""
        peak = f"{item['peak_mb']:.0f}" if "peak_mb" in item else ""
        numbers = " ".join(f"{item[key]:>9.3f}" for key in ("median", "p10", "p90"))
        processor = f"{item['processor_s']:.2f}" if "processor_s" in item else ""
        lines.append(f"{item['what']:<48} {numbers} {target:>8} {processor:>8} {peak:>8}".rstrip())
    return "\n".join(lines)


def main() -> int:
    """Measure, print, write; returns the exit status."""
    parser = argparse.ArgumentParser(description="Measure what the project's own code costs.")
    parser.add_argument("--pairs", type=int, default=330, help="questions by the route and bare (default: 330)")
    parser.add_argument("--starts", type=int, default=15, help="starts of each command (default: 15)")
    parser.add_argument("--real", action="store_true", help="measure on the embedded model as well")
    parser.add_argument("--questions", type=int, default=30, help="questions on the real model (default: 30)")
    parser.add_argument("--jobs", type=int, default=4, help="questions in flight on the real model (default: 4)")
    parser.add_argument("--fleet", action="store_true", help="instead: many stand-in servers, one client (a minute)")
    parser.add_argument("--growth", action="store_true", help="instead: runs of up to 10,000 questions (minutes)")
    parser.add_argument("--output", type=Path, default=ROOT / "outputs" / "bench.json", help="where the JSON goes")
    args = parser.parse_args()
    machine = {**provenance.program(), "load_before": os.getloadavg()}
    if args.fleet or args.growth:
        rows = (bench_fleet.fleet() if args.fleet else []) + (bench_fleet.growth() if args.growth else [])
        machine["load_after"] = os.getloadavg()
        return written(args.output, machine, rows)
    with tempfile.TemporaryDirectory() as name:
        outputs = Outputs(Path(name) / "run")
        prepare.prepare(outputs, catalog.DATA)
        rows = client_cost(outputs, args.pairs) + gate_cost(outputs) + guard_cost()
        rows += command_cost(outputs.folder, args.starts)
        if args.real:
            rows += real_cost(outputs, args.questions, Path(name) / "server.log")
            rows += white_space_cost(Path(name) / "server.log")
            rows += in_flight(Path(name), args.questions, args.jobs)
    machine["load_after"] = os.getloadavg()
    print(table(rows))
    return written(args.output, machine, rows)


def written(output: Path, machine: Row, rows: Sequence[Row]) -> int:
    """Print the machine and write everything to `output`."""
    print(", ".join(f"{key}: {value}" for key, value in machine.items()))
    print(store.write_json(output, {"machine": machine, "rows": rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
