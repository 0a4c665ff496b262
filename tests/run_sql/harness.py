"""What the tests of this folder share: copies of Reservo with things to steal beside it, and one process a case."""

import hashlib
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from src.run_sql.database import image

ROOT = Path(__file__).resolve().parents[2]
KILL_SECONDS = 5.0
EXTRA = """
    CREATE TABLE secrets (v TEXT);
    INSERT INTO secrets VALUES ('s3cr3t');
    CREATE VIEW leak AS SELECT v FROM secrets;
    CREATE VIRTUAL TABLE docs USING fts4 (body);
    INSERT INTO docs VALUES ('bonjour le monde');
"""
MARK = "s3cr3t"


@cache
def hostile_image() -> bytes:
    """Return Reservo's file with a secret table, a view on it and a full-text table added."""
    with closing(sqlite3.connect(":memory:")) as con:
        con.deserialize(image())
        con.executescript(EXTRA)
        return con.serialize()


@cache
def other_image() -> bytes:
    """Return a database that no query may reach."""
    with closing(sqlite3.connect(":memory:")) as con:
        con.executescript(f"CREATE TABLE private (v TEXT); INSERT INTO private VALUES ('{MARK}');")
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


def run_case(folder: Path, case: dict[str, Any]) -> dict[str, Any]:
    """Run a case's calls in a process of its own and return the worker's report; TimeoutExpired after the kill."""
    path = lay_out(folder)
    order = {"path": str(path), **{key: case[key] for key in ("calls", "max_rows") if key in case}}
    done = subprocess.run(
        [sys.executable, "-m", "tests.run_sql.worker"],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        timeout=KILL_SECONDS,
        cwd=ROOT,
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(f"the worker ended with {done.returncode}: {done.stderr[-2000:]}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report
