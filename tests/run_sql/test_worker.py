"""The process beside the caller's: what kills it, what ends it, and that neither reaches the caller or the next call.

Run alone: python -m pytest tests/run_sql/test_worker.py
"""

import contextlib
import gc
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from src.run_sql import guard, open_reservo, run_sql, serve, validate
from src.run_sql.guard import Reservo
from src.run_sql.worker import Worker
from tests.run_sql import harness
from tests.support.depth import few

COUNT = "SELECT count(*) FROM rooms"
FIVE = {"ok": True, "columns": ["count(*)"], "rows": [[5]], "truncated": False}
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
OUT_OF_TIME = {"ok": False, "error": "tiempo agotado: más de 0.4 s"}


@pytest.fixture
def own(reservo: Path) -> Iterator[Reservo]:
    """A connection of this test alone."""
    con = open_reservo(reservo)
    yield con
    con.close()


def processes(parent: int) -> list[int]:
    """Return the children of a process, zombies left out."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            _, state, above, *_ = stat.read_text().rsplit(")", 1)[1].split(" ")
            if int(above) == parent and state != "Z":
                found.append(int(stat.parent.name))
    return found


def started(con: Reservo) -> int:
    """Make the connection's first call and return the process that it started."""
    before = set(processes(os.getpid()))
    assert run_sql(COUNT, con) == FIVE
    (server,) = set(processes(os.getpid())) - before
    return server


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for a condition, at most half a minute."""
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.01)


def wide(columns: int, terms: int, term: str) -> str:
    """Return the kind of statement that breaks the heap of SQLite 3.40.1, with these numbers of columns and terms."""
    return f"SELECT DISTINCT {', '.join(['1'] * columns)} ORDER BY {', '.join([term] * terms)}"


@pytest.mark.parametrize("columns", few([80, 65, 87, 100]))
@pytest.mark.parametrize("terms", few([64, 74]))
def test_a_statement_that_breaks_an_old_engine_costs_its_own_answer_at_most(
    own: Reservo, columns: int, terms: int
) -> None:
    statement = wide(columns, terms, "1 + 1")
    for _ in range(3):
        answer = run_sql(statement, own)
        harness.check_answer(answer)
        assert answer["ok"] or "cayó con esta consulta (SIG" in answer["error"], answer
        assert run_sql(COUNT, own) == FIVE


BROKEN = (
    "import sys; sys.path[:0] = ['.']\n"
    "from src.run_sql import engine, serve\n"
    "whole = engine.ran\n"
    "def ran(cursor, statement, max_rows):\n"
    "    if 'broken' in statement: {fault}\n"
    "    return whole(cursor, statement, max_rows)\n"
    "engine.ran = ran\n"
    "serve.main()\n"
)
DEATHS = [
    ("import os; os.kill(os.getpid(), 11)", "cayó con esta consulta (SIGSEGV); escríbela de otra forma"),
    ("import os; os.abort()", "cayó con esta consulta (SIGABRT); escríbela de otra forma"),
    ("import os; os.kill(os.getpid(), 9)", "cayó con esta consulta (SIGKILL); escríbela de otra forma"),
    ("import os; os._exit(7)", "cayó con esta consulta (estado 7); escríbela de otra forma"),
    ("raise SystemError", "cayó con esta consulta (estado 1); escríbela de otra forma"),
    ("exec('while True: pass')", "tiempo agotado: más de 0.4 s"),
    ("import time; time.sleep(60)", "tiempo agotado: más de 0.4 s"),
    ("bytearray(10**9)", "memoria agotada: más de 48 MiB"),
    ("open('broken', 'wb', 0).write(b'x')", "OSError"),
]


@pytest.mark.parametrize(("fault", "words"), DEATHS)
def test_each_way_to_die_is_an_answer_with_its_reason_and_the_next_call_is_served(
    own: Reservo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fault: str, words: str
) -> None:
    fault = fault.replace("'broken'", repr(str(tmp_path / "written")))
    monkeypatch.setattr("src.run_sql.worker.COMMAND", ("-c", BROKEN.format(fault=fault)))
    for before in ("", COUNT):  # in a new process, and in one that has served
        assert not before or run_sql(before, own) == FIVE
        answer = run_sql("SELECT 1 AS broken", own)
        assert not answer["ok"]
        assert words in answer["error"]
        assert run_sql(COUNT, own) == FIVE
    assert not (tmp_path / "written").exists() or not (tmp_path / "written").stat().st_size


def test_a_crash_that_an_earlier_statement_prepared_is_not_blamed_on_this_one(
    own: Reservo, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = "import builtins; builtins.planted = True"
    late = BROKEN.format(fault=planted).replace(
        "    return",
        "    if 'rooms' in statement and __import__('builtins')"
        ".__dict__.get('planted'): __import__('os').abort()\n    return",
    )
    monkeypatch.setattr("src.run_sql.worker.COMMAND", ("-c", late))
    assert run_sql("SELECT 1 AS broken", own)["ok"]
    assert run_sql(COUNT, own) == FIVE


def test_a_statement_with_a_long_program_is_the_last_of_its_process(own: Reservo) -> None:
    server = started(own)
    first = processes(server)
    assert run_sql(COUNT, own) == FIVE
    assert processes(server) == first
    wide_one = ", ".join(f"sum(id + {number}) OVER (ORDER BY id)" for number in range(10))
    assert run_sql(f"SELECT {wide_one} FROM rooms", own)["ok"]
    assert run_sql(COUNT, own) == FIVE
    assert processes(server) != first


def test_the_process_is_held_to_its_limits_and_a_stopped_query_stops(own: Reservo) -> None:
    server = started(own)
    assert run_sql(ENDLESS, own) == OUT_OF_TIME
    assert validate("SELECT nope", own) == (False, "OperationalError: no such column: nope")
    limits = Path(f"/proc/{server}/limits").read_text()
    for name, most in (("Max data size", 48 * 2**20), ("Max file size", 0), ("Max core file size", 0)):
        assert f"{name:<26}{most:<21}{most:<21}" in limits


@pytest.mark.parametrize("whose", ["server", "child"])
def test_a_process_killed_from_outside_between_two_calls_costs_no_answer(own: Reservo, whose: str) -> None:
    server = started(own)
    os.kill(server if whose == "server" else processes(server)[0], signal.SIGKILL)
    for _ in range(2):
        assert run_sql(COUNT, own) == FIVE


def test_a_locked_file_is_an_answer_soon_however_long_the_connection_would_wait(reservo: Path, own: Reservo) -> None:
    own.execute("PRAGMA busy_timeout = 600000")
    with contextlib.closing(sqlite3.connect(reservo, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        assert run_sql(COUNT, own) == {"ok": False, "error": "OperationalError: database is locked"}
    assert run_sql(COUNT, own) == FIVE


def test_where_no_process_can_be_started_the_answer_says_so(own: Reservo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("src.run_sql.worker.COMMAND", ("-c", "raise SystemExit(1)"))
    assert run_sql(COUNT, own)["error"] == "el proceso que ejecuta las consultas terminó antes de responder"
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    error = run_sql(COUNT, own)["error"]
    assert error == "el proceso que ejecuta las consultas no se pudo iniciar: No such file or directory"
    monkeypatch.undo()
    assert run_sql(COUNT, own) == FIVE


def test_what_is_no_answer_is_not_passed_on(own: Reservo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("src.run_sql.worker.COMMAND", ("-c", "import sys; input(); print('{nonsense')"))
    assert run_sql(COUNT, own)["error"] == "el proceso que ejecuta las consultas respondió algo ilegible"


def test_a_process_that_is_stuck_is_given_up(own: Reservo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("src.run_sql.worker.COMMAND", ("-c", "import time; time.sleep(600)"))
    monkeypatch.setattr("src.run_sql.worker.PATIENCE_SECONDS", 0.2)
    statement = "SELECT '" + "x" * 9_900 + "'"
    assert run_sql(statement, own)["error"] == "el proceso que ejecuta las consultas no responde en 0.2 s"


def test_closing_dropping_and_ending_leave_no_process_and_no_descriptor(reservo: Path) -> None:
    gc.collect()
    before = (processes(os.getpid()), len(list(Path("/proc/self/fd").iterdir())))
    for _ in range(2):
        con = open_reservo(reservo)
        assert run_sql(COUNT, con) == FIVE
        con.close()
        assert processes(os.getpid()) == before[0]
        con = open_reservo(reservo)
        assert run_sql(COUNT, con) == FIVE
        assert run_sql(COUNT, sqlite3.connect(reservo)) == FIVE
        del con
        gc.collect()  # a connection of sqlite3 is in a cycle with its cache of statements
    assert (processes(os.getpid()), len(list(Path("/proc/self/fd").iterdir()))) == before


PROGRAM = """
import os, sys, time
from src.run_sql import open_reservo, run_sql
con = open_reservo(sys.argv[1])
print(run_sql("SELECT count(*) FROM rooms", con)["rows"], flush=True)
"""


UNCLOSED = "ignore:unclosed database:ResourceWarning"  # which Python says from 3.13 on, and rightly


@pytest.mark.parametrize("ending", few(["os._exit(0)", "", "raise SystemExit", "1 / 0"]))
def test_a_program_that_ends_in_any_way_of_its_own_leaves_nobody_and_says_nothing(reservo: Path, ending: str) -> None:
    shown = "import subprocess; print(*__import__('tests.run_sql.test_worker', fromlist='x').processes(os.getpid()))\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", UNCLOSED, "-c", PROGRAM + shown + ending, str(reservo)],
        cwd=harness.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    first, children = done.stdout.splitlines()
    assert first == "[[5]]"
    assert "ZeroDivisionError" in done.stderr if ending == "1 / 0" else done.stderr == ""
    wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in children.split()))


@pytest.mark.parametrize("number", few([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP], mark="kill"))
def test_a_program_that_is_killed_leaves_nobody(reservo: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", PROGRAM + "time.sleep(60)", str(reservo)]
    with subprocess.Popen(command, cwd=harness.ROOT, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout and program.stdout.readline() == "[[5]]\n"
        server = processes(program.pid)
        inner = [child for parent in server for child in processes(parent)]
        assert len(server) == len(inner) == 1
        program.send_signal(number)
        program.wait(30)
    wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in server + inner))


FORKING = """
child = os.fork()
if child == 0:
    rows = run_sql("SELECT count(*) FROM members", con)["rows"]
    sys.exit(rows != [[8]])
print(os.waitpid(child, 0)[1], run_sql("SELECT count(*) FROM rooms", con)["rows"])
silent = os.fork()
if silent == 0:
    time.sleep(600)
print(silent, *__import__('tests.run_sql.test_worker', fromlist='x').processes(os.getpid()), flush=True)
os._exit(0)
"""


def test_the_child_of_a_fork_has_a_process_of_its_own_and_keeps_nobody_elses_alive(reservo: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM + FORKING, str(reservo)], cwd=harness.ROOT, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout
        assert program.stdout.readline() == "[[5]]\n"
        assert program.stdout.readline() == "0 [[5]]\n"
        silent, *others = map(int, program.stdout.readline().split())
        try:
            wait_until(lambda: not any(Path(f"/proc/{other}").exists() for other in others if other != silent))
        finally:
            os.kill(silent, signal.SIGKILL)


def test_threads_with_connections_of_their_own_get_their_own_answers(reservo: Path) -> None:
    wrong: list[Any] = []

    def work(number: int) -> None:
        with contextlib.closing(open_reservo(reservo)) as con:
            for step in range(20):
                answer = run_sql(f"SELECT {number} * 100 + {step}", con)
                if answer["rows"] != [[number * 100 + step]]:
                    wrong.append(answer)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_one_connection_that_threads_share_by_wish_serves_them_one_by_one(reservo: Path) -> None:
    con = sqlite3.connect(reservo, factory=Reservo, check_same_thread=False)
    answers: list[Any] = []
    threads = [threading.Thread(target=lambda: answers.append(run_sql(COUNT, con))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [FIVE] * 8
    con.close()


def test_threads_that_ask_for_the_file_of_one_connection_leave_its_settings_alone(reservo: Path) -> None:
    con = sqlite3.connect(reservo, check_same_thread=False)
    found: list[bytes] = []

    def ask() -> None:
        found.extend(guard.file_of(con) for _ in range(300))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert set(found) == {bytes(reservo)} and len(found) == 8 * 300
    assert con.text_factory is str
    con.close()


def test_control_c_stops_a_query_is_not_swallowed_and_leaves_no_old_answer(
    own: Reservo, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = BROKEN.format(fault="__import__('time').sleep(0.5)")
    monkeypatch.setattr("src.run_sql.worker.COMMAND", ("-c", slow))
    for delay in (0.0, 0.05, 0.3):
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            run_sql("SELECT 'broken'", own)
            time.sleep(30)
        timer.join()
        assert run_sql(COUNT, own) == FIVE


def test_a_request_from_another_thread_stops_a_query_with_an_answer(
    own: Reservo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("src.run_sql.worker.COMMAND", ("-c", BROKEN.format(fault="import time; time.sleep(0.8)")))
    assert run_sql(COUNT, own) == FIVE
    timer = threading.Timer(0.1, own.interrupt)
    timer.start()
    assert run_sql("SELECT 'broken'", own) == {"ok": False, "error": "OperationalError: interrupted"}
    timer.join()
    own.interrupt()  # with nothing under way it is for nobody
    assert run_sql(COUNT, own) == FIVE


def test_the_clocks_hold_whatever_the_caller_ignores(reservo: Path) -> None:
    ignoring = (
        "import signal\n"
        "for n in (signal.SIGPROF, signal.SIGALRM, signal.SIGCHLD): signal.signal(n, signal.SIG_IGN)\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF, signal.SIGALRM])\n"
    )
    program = ignoring + PROGRAM + f"print(run_sql({ENDLESS!r}, con)['error'])"
    done = subprocess.run(
        [sys.executable, "-c", program, str(reservo)], cwd=harness.ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[[5]]\ntiempo agotado: más de 0.4 s\n", "")


def test_the_figures_leave_room_in_the_promised_second() -> None:
    assert serve.CALL_SECONDS < serve.WALL_SECONDS < 1


def test_a_worker_that_was_never_asked_has_no_process() -> None:
    before = processes(os.getpid())
    worker = Worker()
    worker.interrupt()
    worker.stop()
    assert processes(os.getpid()) == before
