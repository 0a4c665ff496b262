"""The database under names and in states that a careless program would get wrong; the folder holds nothing new after.

Run alone with: python -m pytest tests/faults/test_database.py
"""

import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from src.tools import digest
from tests.support import tally
from tests.support.faulty_server import Request, Step, completion, http, proposal, send, serving
from tests.support.project import Shop, failed, snapshot, succeeded

FOLDERS = [
    "a#b",
    "a?mode=rwc&x",
    "a%41",
    "%zz",
    "two words",
    "é",
    "库存",
    "a'b\"c",
    "file:x",
    "a;b",
    "x?immutable=1",
    "line\nbreak",
    "\x1b[31m",
    "\u202eabc",
    "n" * 200,
]


@pytest.mark.parametrize("name", FOLDERS, ids=map(ascii, FOLDERS))
def test_a_folder_of_any_legal_name_is_used_and_no_other(name: str, tmp_path: Path) -> None:
    shop = Shop(tmp_path / name)
    succeeded(shop.run("prepare"))
    assert os.listdir(tmp_path) == [name]  # noqa: PTH208
    assert sorted(snapshot(tmp_path)) == [f"{name}/prepare.json", f"{name}/stock.db"]
    before = digest(shop.database)
    for command in ("negatives", "exercise"):
        succeeded(shop.run(command))
    failed(shop.run("prepare"), 2, "never overwritten")
    assert digest(shop.database) == before == shop.read("prepare.json")["digest"]
    assert len(list(tmp_path.iterdir())) == 1 and len(list(shop.outputs.iterdir())) == 4
    tally.count("faults", "database: folder names")


def index_damaged(path: Path) -> None:
    """The entries of the index on `ref`, which is the last page, point to other rows."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size - 8)
        file.write(b"\x03\x17\x03REF-9"[:8])


COMMANDS = ("agent", "ask", "negatives", "exercise")


def arguments(command: str) -> list[str]:
    return [command, "REF-001?"] if command == "ask" else [command]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_database_is_named_and_not_created(command: str, tmp_path: Path) -> None:
    shop = Shop(tmp_path / "outputs")
    failed(shop.run(*arguments(command)), 2, "stock.db is missing; build it with")
    assert not shop.outputs.exists() or not list(shop.outputs.glob("stock.db*"))
    tally.count("faults", "database: missing")


def rebuilt(*statements: str) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        path.unlink()
        db = sqlite3.connect(path)
        for statement in statements:
            db.execute(statement)
        db.commit()
        db.close()

    return make


def uncommitted_journal(path: Path) -> None:
    path.with_name("stock.db-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\0" * 504)


def write_ahead(path: Path) -> None:
    """A row committed to the log beside the file: the file's digest does not tell of it."""
    path.chmod(0o644)
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    db = sqlite3.connect(copy)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("UPDATE products SET stock=stock+1")
    db.commit()
    shutil.copy(copy, path)
    shutil.copy(copy.with_name("copy.db-wal"), path.with_name("stock.db-wal"))
    db.close()
    copy.unlink()


def wal_mode(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode=WAL")
    db.close()


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link(target: str, path: Path) -> None:
    path.unlink()
    path.symlink_to(target)


TABLE = "CREATE TABLE products(ref, name, stock)"
STATES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_bytes(b"ref,name,stock\n" * 99),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:1000]),
    "zeros": lambda path: path.write_bytes(b"\0" * 8192),
    "header only": lambda path: path.write_bytes(path.read_bytes()[:100] + b"\xff" * 8092),
    "no table": rebuilt("CREATE TABLE other(x)"),
    "other columns": rebuilt("CREATE TABLE products(id, price)"),
    "a blob": rebuilt(TABLE, "INSERT INTO products VALUES('REF-001', x'ff00', 3)"),
    "stock as text": rebuilt(TABLE, "INSERT INTO products VALUES('REF-001', 'a', '3')"),
    "stock infinite": rebuilt(TABLE, "INSERT INTO products VALUES('REF-001', 'a', 9e999)"),
    "nothing as name": rebuilt(TABLE, "INSERT INTO products VALUES('REF-001', NULL, 1)"),
    "rollback journal": uncommitted_journal,
    "write-ahead log": write_ahead,
    "write-ahead mode": wal_mode,
    "index damaged": index_damaged,
    "fifo": fifo,
    "folder": folder,
    "dangling link": partial(link, "nowhere"),
    "link to itself": partial(link, "stock.db"),
}


@pytest.mark.parametrize("name", STATES)
def test_a_database_that_prepare_did_not_make_is_refused_and_left_alone(
    name: str, tmp_path: Path, prepared: Path
) -> None:
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    shutil.copy(prepared, outputs / "stock.db")
    STATES[name](outputs / "stock.db")
    before = {path.name: path.read_bytes() if path.is_file() else b"" for path in outputs.iterdir()}
    with serving() as server:
        shop = Shop(outputs, server.url)
        for command in ("agent", "exercise"):
            failed(shop.run(*arguments(command)), 2, "stock.db")
        assert not server.requests
    assert before == {path.name: path.read_bytes() if path.is_file() else b"" for path in outputs.iterdir()}
    tally.count("faults", "database: strange states", 2)


def test_a_reference_with_a_surrogate_or_nul_never_reaches_sqlite(shop: Shop) -> None:
    def staged(steps: Sequence[Step], request: Request) -> Sequence[Step] | None:
        return steps if request.stage else None

    for ref in ("REF-\ud80001", "REF-001\x00", "\x00", "REF-00\udcff"):
        steps = [send(http(completion(proposal(ref))))]
        with serving(partial(staged, steps)) as server:
            shop.url = server.url
            failed(shop.run("ask", "REF-001?"), 1, "Référence ou arguments invalides")
        tally.count("faults", "database: surrogates and NUL")


def test_a_folder_that_cannot_be_written_ends_in_one_line(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    blocked = Shop(tmp_path / "file" / "outputs", shop.url)
    for command in ("prepare", "agent", "exercise", "evaluate"):
        failed(blocked.run(command), 2)
    assert (tmp_path / "file").read_text() == "mine"
    succeeded(shop.run("exercise"))


def test_a_database_that_cannot_be_locked_is_not_called_damaged(
    tmp_path: Path, prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(prepared, tmp_path / "stock.db")
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0.1))  # five seconds by default
    other = sqlite3.connect(tmp_path / "stock.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        ended = Shop(tmp_path).run("negatives")
    finally:
        other.close()
    failed(
        ended, 2, "cannot be locked for reading .*: another program is writing to it, or its file system has no locks"
    )
    assert "fresh copy" not in ended.err
