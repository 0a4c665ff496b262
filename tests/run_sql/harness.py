"""What the tests of this folder share: copies of Reservo with things to steal beside it, and what an answer must be."""

import hashlib
import json
import multiprocessing
import sqlite3
from contextlib import closing
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

from src.run_sql.database import image
from src.run_sql.records import Answer
from src.run_sql.values import MAX_CELL_CHARS, MAX_ERROR_CHARS, MAX_NAME_CHARS, MAX_RESULT_CHARS
from tests.run_sql import worker
from tests.support import tally

ROOT = Path(__file__).resolve().parents[2]
KILL_SECONDS = 10.0  # of wall clock for a whole process, on a machine that others use too
MARK = "s3cr3t"
EXTRA = f"""
    CREATE TABLE secrets (v TEXT);
    INSERT INTO secrets VALUES ('{MARK}');
    CREATE VIEW leak AS SELECT v FROM secrets;
    CREATE VIRTUAL TABLE docs USING fts4 (body);
    INSERT INTO docs VALUES ('bonjour le monde {MARK}');
    CREATE VIEW calling AS SELECT touched() AS x;
"""
OTHER = f"CREATE TABLE private (v TEXT); INSERT INTO private VALUES ('{MARK}');"
LARGEST_ANSWER = 6 * (MAX_RESULT_CHARS + 100 * (MAX_CELL_CHARS + MAX_NAME_CHARS))  # a character is at most \\uXXXX


def count(kind: str, inputs: int = 1) -> None:
    """Note that `inputs` more of this kind were tried."""
    tally.count("run_sql", kind, inputs)


def record(measure: str, value: float, name: str) -> None:
    """Keep the largest value of a measure, with the name of the case."""
    tally.record(measure, value, name)


@cache
def hostile_image() -> bytes:
    """Return Reservo's file with a secret table, views, and a full-text table added."""
    with closing(sqlite3.connect(":memory:")) as con:
        con.deserialize(image())
        con.executescript(EXTRA)
        return con.serialize()


@cache
def other_image() -> bytes:
    """Return a database that no query may reach."""
    with closing(sqlite3.connect(":memory:")) as con:
        con.executescript(OTHER)
        return con.serialize()


def lay_out(folder: Path) -> Path:
    """Put a hostile Reservo and another database in `folder` and return the former's path."""
    path = folder / "reservo.db"
    path.write_bytes(hostile_image())
    (folder / "other.db").write_bytes(other_image())
    return path


def snapshot(folder: Path) -> dict[str, str]:
    """Return name -> SHA-256 of every file in `folder`: equal before and after means nothing was written."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


@cache
def forked() -> ForkServerContext:
    """What starts a worker: by forking a process that has made the imports, which cost ten times as much as a case."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([worker.__name__])
    return context


def run_case(path: Path, case: dict[str, Any], seconds: float = KILL_SECONDS) -> dict[str, Any]:
    """Run a case's calls in a process of its own and return the worker's report.

    Raises `TimeoutError` after the kill, `ChildProcessError` with the status when the process died by itself.
    """
    ours, theirs = forked().Pipe(duplex=False)
    process = forked().Process(target=worker.work, args=({"path": str(path), **case}, theirs))
    process.start()
    theirs.close()
    try:
        if not ours.poll(seconds):
            raise TimeoutError(f"the worker was killed after {seconds} s")
        report: dict[str, Any] = ours.recv()
    except EOFError:
        process.join()
        raise ChildProcessError(process.exitcode) from None
    finally:
        process.kill()
        process.join()
        ours.close()
    return report


def check_answer(answer: Answer) -> None:
    """Fail unless `answer` has one of the two documented shapes, fits JSON, is bounded and holds no secret."""
    text = json.dumps(answer, allow_nan=False)
    assert len(text) <= LARGEST_ANSWER
    assert MARK not in text
    if answer["ok"] is True:
        assert list(answer) == ["ok", "columns", "rows", "truncated"]
        assert all(type(name) is str for name in answer["columns"])
        assert type(answer["truncated"]) is bool
        assert len(answer["rows"]) <= 100
        for row in answer["rows"]:
            assert len(row) == len(answer["columns"])
            assert all(cell is None or type(cell) in (int, float, str) for cell in row)
    else:
        assert list(answer) == ["ok", "error"]
        assert answer["ok"] is False
        assert type(answer["error"]) is str
        assert 0 < len(answer["error"]) <= MAX_ERROR_CHARS + 1
