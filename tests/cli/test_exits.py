"""The edge that both command lines share: signals, `--debug`, outputs that take no more, remedies to paste.

Run alone: python -m pytest tests/cli/test_exits.py
"""

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from src.base import exits
from src.base.errors import Interrupted, ServerUnavailable, Terminated
from src.base.parser import Parser
from src.run_sql.database import create
from src.runs.outputs import Outputs
from tests.support import forked
from tests.support.command import ROOT, assert_one_line, cli, environment
from tests.support.depth import few
from tests.support.faulty_server import Request, Step, serving, wait
from tests.support.inprocess import Ended

QUESTION = "What is the stock level for REF-000?"
PROGRAMS = ("src.cli", "src.run_sql")
SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
INTERRUPTED = {signal.SIGINT: "interrupted", signal.SIGTERM: "interrupted by SIGTERM"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of results with the databases of both lessons."""
    assert cli("--outputs", tmp_path, "prepare").status == 0
    create(tmp_path / "reservo.db")
    return tmp_path


@pytest.fixture
def parser() -> Parser:
    made = Parser(prog="prog")
    made.add_argument("command")
    made.add_argument("--debug", action="store_true")
    return made


def running(parser: Parser, handler: exits.Handler) -> Parser:
    """The parser with `handler` as the function of whatever command is named."""
    parser.set_defaults(run=handler)
    return parser


@pytest.mark.parametrize(
    ("words", "status"), [(["negatives"], 2), (["ask", ""], 2), (["ask", QUESTION], 3)], ids=lambda value: str(value)
)
def test_debug_adds_a_traceback_and_changes_neither_status_nor_line(
    words: list[str], status: int, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    where = tmp_path_factory.mktemp("empty") if words == ["negatives"] else folder
    env: Any = {"LLM_BASE_URL": "http://127.0.0.1:1", "LLM_WAIT_S": "0.1"}
    plain = cli("--outputs", where, *words, **env)
    assert_one_line(plain, status)
    told = cli("--outputs", where, "--debug", *words, **env)
    assert told.status == status
    assert "Traceback (most recent call last)" in told.err
    assert told.line == plain.line


@SIGNALS
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_signal_is_one_line_and_status_1_in_both_programs(program: str, number: signal.Signals, folder: Path) -> None:
    reached = threading.Event()

    def plan(request: Request) -> Sequence[Step] | None:
        if not request.stage:
            return None
        reached.set()
        return [wait(30)]

    with serving(plan) as server:
        env = environment(LLM_BASE_URL=server.url, R3_OUTPUTS=str(folder))
        process = forked.start(program, "ask", QUESTION, env=env)
        assert reached.wait(30)
        process.send_signal(number)
        ended = process.ended(30)
    assert (ended.status, ended.err) == (1, f"python -m {program} ask: {INTERRUPTED[number]}\n")


HALF_BUILT = """
import argparse, gc
from src.base import exits
from src.base.parser import Parser

class Reply:
    def __init__(self):
        self.itself = self
        raise KeyboardInterrupt  # as a signal may at any line
        self.socket = None

    def __del__(self):
        self.socket.close()

gc.disable()
parser = Parser(prog="program")
parser.set_defaults(run=lambda _: Reply())
exits.leave(exits.run(parser, []))
"""


def test_what_a_signal_left_half_built_adds_nothing_to_the_line() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HALF_BUILT], cwd=ROOT, env=environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (1, f"program: {INTERRUPTED[signal.SIGINT]}\n")


@SIGNALS
def test_a_signal_is_no_exception_that_a_library_could_take_for_its_own_failure(
    number: signal.Signals, parser: Parser, capsys: pytest.CaptureFixture[str]
) -> None:
    def careless(_: argparse.Namespace) -> None:
        try:
            os.kill(os.getpid(), number)
        except Exception as exc:
            raise ValueError from exc

    before = signal.getsignal(signal.SIGTERM)
    assert exits.run(running(parser, careless), ["work"]) == 1
    assert capsys.readouterr().err == f"prog work: {INTERRUPTED[number]}\n"
    assert signal.getsignal(signal.SIGTERM) is before


@SIGNALS
def test_a_careless_library_does_not_keep_the_download_going(number: signal.Signals) -> None:
    code = (
        "import os, sys\nfrom src.weights import fetch\n"
        "def load(key, lock):\n"
        "    try:\n"
        f"        os.kill(os.getpid(), {number:d})\n"
        "    except Exception:\n"
        "        pass\n"
        "    sys.exit(0)\n"
        "fetch.models.load = load\nsys.exit(fetch.main([]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment(), capture_output=True, text=True)
    line = f"fetch_model: {INTERRUPTED[number]}; what was received is kept; run the same command again to resume\n"
    assert (done.returncode, done.stderr) == (1, line)


def test_an_interruption_before_the_command_is_known_names_the_program_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Slow(Parser):
        def parse_args(self, *_: object, **__: object) -> argparse.Namespace:  # type: ignore[override]
            raise Terminated

    assert exits.run(Slow(prog="python -m src.cli"), []) == 1
    assert capsys.readouterr().err == "python -m src.cli: interrupted by SIGTERM\n"


def test_what_carries_its_own_line_keeps_its_words_and_status(
    parser: Parser, capsys: pytest.CaptureFixture[str]
) -> None:
    for failure, status in ((Interrupted("interrupted; 3 of 30 results are kept"), 1), (ServerUnavailable("gone"), 3)):

        def fail(_: argparse.Namespace, failure: Exception = failure) -> None:
            raise failure

        assert exits.run(running(parser, fail), ["work"]) == status
        assert capsys.readouterr().err == f"prog work: {failure}\n"


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("words", ["--help", "ask --help"])
def test_help_for_a_reader_that_is_gone_is_quiet_and_on_a_full_disk_one_line(program: str, words: str) -> None:
    shell = f'{{ {shlex.quote(sys.executable)} -m {program} {words}; echo "status $?" >&2; }} | true'
    done = subprocess.run(["sh", "-c", shell], cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert done.stderr == "status 0\n"
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", program, *words.split()]
        done = subprocess.run(command, cwd=ROOT, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(f"python -m {program}: No space left on device")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("closed", few(["<&- >&- 2>&-", "<&-", ">&-", "2>&-"]))
@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("src.cli --help", 0),
        ("src.cli exercise --outputs {folder}", 0),
        ("src.cli prepare --outputs {folder}", 2),
        ("src.run_sql query - --db {folder}/reservo.db", 1),
        ("src.run_sql demo --db {folder}/reservo.db", 0),
    ],
)
def test_streams_that_the_caller_closed_change_no_status_and_reach_no_file(
    words: str, status: int, closed: str, folder: Path
) -> None:
    before = {name: (folder / name).read_bytes() for name in ("stock.db", "reservo.db")}
    shell = f"{shlex.quote(sys.executable)} -m {words.format(folder=shlex.quote(str(folder)))} {closed}"
    done = subprocess.run(
        ["sh", "-c", shell], cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
    assert not (done.stdout if ">&-" in closed.replace("2>&-", "") else "")
    assert {name: (folder / name).read_bytes() for name in before} == before


NAMES = ["a b", "x; touch stolen", "$(touch stolen)", "it's", "`touch stolen`"]


@pytest.mark.parametrize("name", few(NAMES, 2))
def test_a_remedy_names_a_folder_so_that_a_shell_takes_it_for_that_folder(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    assert shlex.split(Outputs(folder).command("prepare"))[-2:] == [str(folder), "prepare"]
    remedy = cli("--outputs", folder, "negatives").err.rpartition("build it with: ")[2]
    paste = {**environment(), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command, made in ((remedy, "stock.db"), (missing_reservo(folder / "reservo.db"), "reservo.db")):
        done = subprocess.run(["sh", "-c", command], cwd=ROOT, env=paste, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert (folder / made).is_file()
    assert not (ROOT / "stolen").exists()


def missing_reservo(path: Path) -> str:
    """The remedy that the second lesson gives for a database that is not there."""
    return forked.run("src.run_sql", "query", "SELECT 1", "--db", path, env=environment()).err.rpartition(
        "make one with: "
    )[2]


def test_both_programs_make_the_default_folder_of_results(tmp_path: Path) -> None:
    for program, command, name in (("src.cli", "prepare", "stock.db"), ("src.run_sql", "create", "reservo.db")):
        folder = tmp_path / program / "new"
        done = subprocess.run(
            [sys.executable, "-m", program, command],
            cwd=ROOT,
            env=environment(R3_OUTPUTS=str(folder)),
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert (folder / name).is_file()


def ask(program: str, question: str, folder: Path, **env: str) -> Ended:
    """Ask in one of the two programs."""
    return forked.run(program, "ask", question, env=environment(R3_OUTPUTS=str(folder), **env))


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    ("question", "env", "says"),
    [
        ("", {"R3_EMBEDDED": "1"}, "the question is empty"),
        (QUESTION, {"R3_EMBEDDED": "true"}, "R3_EMBEDDED='true' is neither 1 nor 0"),
        (QUESTION, {"R3_EMBEDDED": "1", "R3_THREADS": "abc"}, "R3_THREADS='abc' is not a number of threads"),
        (QUESTION, {"R3_EMBEDDED": "1", "R3_THREADS": "0"}, "R3_THREADS='0' is not a number of threads"),
    ],
)
def test_what_is_wrong_is_said_before_a_model_is_loaded(
    program: str, question: str, env: dict[str, str], says: str, folder: Path
) -> None:
    done = ask(program, question, folder, **env)
    assert (done.status, done.out) == (2, "") and says in done.err and done.err.count("\n") == 1
    assert not (folder / "embedded-server.log").exists()


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("value", ["", "0"])
def test_an_r3_embedded_that_says_no_asks_the_server_of_the_environment(program: str, value: str, folder: Path) -> None:
    done = ask(program, QUESTION, folder, R3_EMBEDDED=value, LLM_BASE_URL="http://127.0.0.1:1", LLM_WAIT_S="0.1")
    assert done.status == 3 and "connection refused" in done.err and "starting the embedded" not in done.err


def test_evaluate_refuses_to_compare_a_hostile_run_with_another(folder: Path) -> None:
    ended = cli("--outputs", folder, "evaluate", "--data", "data/hostile.json", "--against", folder)
    assert_one_line(ended, 2, "--against", "data/hostile.json", "leave it out")


def test_the_second_lesson_says_where_it_waits_on_standard_error(folder: Path) -> None:
    done = ask("src.run_sql", QUESTION, folder, LLM_BASE_URL="http://127.0.0.1:1", LLM_WAIT_S="0.6")
    assert done.out == "" and "waiting for the model server" in done.err.splitlines()[0]
    assert done.status == 3 and done.err.splitlines()[1].startswith("python -m src.run_sql ask: ")


def test_the_edge_is_on_the_standard_library_alone(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src" / "base", tmp_path / "src" / "base")
    shutil.copy(ROOT / "src" / "__init__.py", tmp_path / "src")
    code = "import json, sys; from src.base import exits; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "argparse" in json.loads(done.stdout)
