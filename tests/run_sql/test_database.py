"""Reservo's data, and its file made whole or not at all.

Run alone: python -m pytest tests/run_sql/test_database.py
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from src.base.errors import Precondition
from src.run_sql.database import create, image


@pytest.fixture
def data() -> Iterator[sqlite3.Connection]:
    """The data in memory, writable, foreign keys on."""
    con = sqlite3.connect(":memory:")
    con.deserialize(image())
    con.execute("PRAGMA foreign_keys = ON")
    yield con
    con.close()


def one(con: sqlite3.Connection, query: str) -> Any:
    return con.execute(query).fetchone()[0]


def test_two_builds_are_equal_byte_for_byte() -> None:
    assert image() == image()


def test_the_data_keeps_its_own_rules(data: sqlite3.Connection) -> None:
    assert data.execute("PRAGMA foreign_key_check").fetchall() == []
    assert data.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    columns = {row[1] for row in data.execute("PRAGMA table_info(bookings)")}
    assert "total" not in columns  # the lesson's invented column


def test_money_is_in_integer_cents(data: sqlite3.Connection) -> None:
    kinds = "SELECT DISTINCT typeof(amount_cents) FROM payments UNION SELECT DISTINCT typeof(hourly_cents) FROM rooms"
    assert data.execute(kinds).fetchall() == [("integer",)]
    with pytest.raises(sqlite3.IntegrityError):
        data.execute("INSERT INTO payments VALUES (99, 20, 12.5, 'card', '2026-03-17 18:00', NULL)")


def test_every_payment_is_hours_times_price_less_the_pro_discount(data: sqlite3.Connection) -> None:
    wrong = """
        SELECT p.id, p.amount_cents FROM payments p JOIN bookings b ON b.id = p.booking_id
        JOIN rooms r ON r.id = b.room_id JOIN members m ON m.id = b.member_id
        WHERE b.status <> 'confirmed' OR p.amount_cents <>
            ROUND((julianday(b.ends_at) - julianday(b.starts_at)) * 24 * r.hourly_cents
            * CASE m.tier WHEN 'pro' THEN 0.8 ELSE 1 END)
    """
    assert data.execute(wrong).fetchall() == []


def test_no_room_is_booked_twice_at_a_time(data: sqlite3.Connection) -> None:
    overlap = """
        SELECT a.id, b.id FROM bookings a JOIN bookings b ON a.room_id = b.room_id AND a.id < b.id
        AND a.starts_at < b.ends_at AND b.starts_at < a.ends_at AND a.status = 'confirmed' AND b.status = 'confirmed'
    """
    assert data.execute(overlap).fetchall() == []


def test_the_unpaid_bookings_are_those_that_the_file_names(data: sqlite3.Connection) -> None:
    unpaid = "SELECT id FROM bookings WHERE status = 'confirmed' AND id NOT IN (SELECT booking_id FROM payments)"
    assert data.execute(unpaid).fetchall() == [(20,), (22,)]


@pytest.mark.parametrize("statement", ["DELETE FROM rooms WHERE id = 1", "UPDATE bookings SET member_id = 99"])
def test_the_foreign_keys_hold(data: sqlite3.Connection, statement: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        data.execute(statement)


def test_create_makes_one_file_readable_by_others(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        assert create(tmp_path / "x.db") == tmp_path / "x.db"
    finally:
        os.umask(before)
    assert [file.name for file in tmp_path.iterdir()] == ["x.db"]
    assert (tmp_path / "x.db").read_bytes() == image()
    assert (tmp_path / "x.db").stat().st_mode & 0o777 == 0o644


def test_create_never_touches_what_has_the_name(tmp_path: Path) -> None:
    taken = {"file": b"precious", "empty": b""}
    for name, content in taken.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "elsewhere")
    for name in [*taken, "folder", "dangling"]:
        with pytest.raises(Precondition, match=r"exists and is left|is a folder; name|is a link to something"):
            create(tmp_path / name)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["dangling", "empty", "file", "folder"]
    assert {name: (tmp_path / name).read_bytes() for name in taken} == taken


def test_create_names_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(Precondition, match="nowhere does not exist"):
        create(tmp_path / "nowhere" / "x.db")


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Precondition, match="No space left on device"):
        create(tmp_path / "x.db")
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_hard_links_gets_the_file_and_keeps_the_promise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", unsupported)
    create(tmp_path / "x.db")
    assert (tmp_path / "x.db").read_bytes() == image()
    with pytest.raises(Precondition, match="exists"):
        create(tmp_path / "x.db")
    assert [file.name for file in tmp_path.iterdir()] == ["x.db"]
