"""Statements that nobody wrote: none may raise, write, leak or be answered otherwise than by SQLite without guards.

A grammar makes statements that mostly compile; a second generator throws SQL's words together, and a third edits the
hostile ones. Run alone: python -m pytest tests/run_sql/test_generated.py
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from src.run_sql import run_sql
from src.run_sql.gate import FUNCTIONS
from src.run_sql.guard import Reservo
from src.run_sql.text import split_statement
from src.run_sql.tool import MAX_ROWS
from src.run_sql.values import columns, decode, fetch
from tests.run_sql import harness
from tests.run_sql.test_cases import CASES
from tests.support.generated import tries

TABLES = ["rooms", "members", "bookings", "payments"]
HIDDEN = ["secrets", "leak", "docs", "sqlite_master", "pragma_database_list", "json_each('[1]')", "dbstat", "x"]
JOINED = (
    "bookings b JOIN rooms r ON r.id = b.room_id JOIN members m ON m.id = b.member_id "
    "LEFT JOIN payments p ON p.booking_id = b.id"
)
KNOWN = ["b.id", "b.starts_at", "r.name", "r.capacity", "m.tier", "m.name", "p.amount_cents", "p.note", "r.rowid"]
UNKNOWN = ["v", "nope", "*", "x.v", "id"]
LITERALS = [
    "0",
    "1",
    "-1",
    "9223372036854775807",
    "9e999",
    "'a'",
    "'--'",
    "'/*'",
    "';'",
    "x'00ff'",
    "NULL",
    "'ñ'",
    '"q"',
]
BINARY = ["+", "-", "*", "/", "%", "||", "=", "<", "AND", "OR", "IS", "LIKE", "GLOB", "<<", "&"]
ONE_NAMES = "abs avg ceil count date floor hex length lower max min round sign sqrt sum total trim typeof unicode upper"
ONE = ONE_NAMES.split()
TWO_NAMES = "coalesce group_concat ifnull instr max min mod nullif pow round strftime substr trim"
TWO = TWO_NAMES.split()
OVER = ["row_number()", "rank()", "sum({})", "count(*)", "lag({})", "first_value({})", "group_concat({})"]
UNLISTED = ["printf", "zeroblob", "random", "load_extension", "json", "sqlite_version", "fts3_tokenizer", "changes"]


def mostly(usual: st.SearchStrategy[str], rare: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return the usual seven times out of eight."""
    return st.integers(0, 7).flatmap(lambda drawn: rare if drawn == 7 else usual)


def wider(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return expressions made of smaller ones, subqueries included."""
    few = st.lists(inner, min_size=1, max_size=3).map(", ".join)
    odd = st.sampled_from([*UNLISTED, *sorted(FUNCTIONS)])
    return st.one_of(
        st.tuples(inner, st.sampled_from(BINARY), inner).map(" ".join),
        st.tuples(st.sampled_from(ONE), inner).map(lambda made: f"{made[0]}({made[1]})"),
        st.tuples(st.sampled_from(TWO), inner, inner).map(lambda made: f"{made[0]}({made[1]}, {made[2]})"),
        st.tuples(st.sampled_from(OVER), inner).map(lambda made: made[0].format(made[1]) + " OVER (ORDER BY 1)"),
        inner.map(lambda made: f"({made})"),
        st.tuples(inner, few).map(lambda made: f"({made[0]}) IN ({made[1]})"),
        inner.map(lambda made: f"CASE WHEN {made} THEN 1 ELSE 2 END"),
        inner.map(lambda made: f"CAST({made} AS TEXT)"),
        mostly(
            st.tuples(inner, st.sampled_from(TABLES)).map(lambda made: f"(SELECT {made[0]} FROM {made[1]})"),
            st.tuples(inner, st.sampled_from(HIDDEN)).map(lambda made: f"(SELECT {made[0]} FROM {made[1]})"),
        ),
        mostly(inner, st.tuples(odd, few).map(lambda made: f"{made[0]}({made[1]})")),
    )


leaves = mostly(st.one_of(st.sampled_from(LITERALS), st.sampled_from(KNOWN)), st.sampled_from(UNKNOWN))
expressions = st.recursive(leaves, wider, max_leaves=8)
sources = mostly(st.just(JOINED), st.sampled_from([*TABLES, *HIDDEN, "rooms r, bookings b, members m, payments p"]))
front = st.sampled_from(
    ["", "", "-- c\n", "/* ; */", "WITH x AS (SELECT 1 AS v) ", "WITH x AS MATERIALIZED (VALUES (1)) "]
)
middle = st.sampled_from(["", "", " GROUP BY 1", " ORDER BY 1", " LIMIT 3", " ORDER BY 1 LIMIT 2 OFFSET 1"])
behind = mostly(
    st.sampled_from(["", ";", " -- c", ";;/* ; */"]),
    st.sampled_from(["; DELETE FROM rooms", " UNION SELECT v FROM secrets", " RETURNING *", " FOR UPDATE"]),
)
selected = st.lists(expressions, min_size=1, max_size=3).map(", ".join)
queries = st.tuples(front, selected, sources, middle, behind).map(
    lambda made: f"{made[0]}SELECT {made[1]} FROM {made[2]}{made[3]}{made[4]}"
)

KEYWORDS = """
    SELECT FROM WHERE WITH RECURSIVE AS DELETE INSERT UPDATE SET INTO VALUES DROP TABLE PRAGMA ATTACH VACUUM ORDER
    BY GROUP LIMIT UNION ALL EXCEPT CASE WHEN END EXPLAIN RETURNING COMMIT query_only OFF 1 0 x rooms secrets name
    id main temp
"""
MARKS = ["=", ";", "--", "/*", "*/", "'", "`", "[", "]", "(", ")", ",\n.", "*", "\x00", "é", "\ufeff", '"']
WORDS = [*KEYWORDS.split(), *MARKS]
soups = st.lists(st.sampled_from(WORDS), min_size=1, max_size=25).map(" ".join)
SHORT = [call for case in CASES for call in case["calls"] if isinstance(call, str) and len(call) < 400]
short = st.sampled_from(SHORT)


@st.composite
def edited(draw: st.DrawFn) -> str:
    """Return a hostile query with a piece cut out and another put in, or two of them spliced."""
    first, second = draw(short), draw(short)
    start = draw(st.integers(0, len(first)))
    end = draw(st.integers(start, len(first)))
    return first[:start] + draw(st.one_of(st.just(second), st.text(max_size=5), st.sampled_from(WORDS))) + first[end:]


def of_plain_sqlite(path: Path, query: str) -> tuple[list[str], list[list[Any]], bool]:
    """Return what SQLite answers to a query without any guard: columns, at most 100 rows, whether there are more."""
    with closing(sqlite3.connect(path)) as con:
        con.text_factory = decode
        cursor = con.execute(split_statement(query).body)
        rows, more = fetch(cursor, MAX_ROWS)
        return columns(cursor), rows, more


def check(where: tuple[Path, Reservo], kind: str, query: str) -> None:
    path, con = where
    answer = run_sql(query, con)
    harness.check_answer(answer)
    assert list(harness.snapshot(path.parent)) == ["other.db", "reservo.db"]
    assert path.read_bytes() == harness.hostile_image()
    if answer["ok"]:
        assert (answer["columns"], answer["rows"], answer["truncated"]) == of_plain_sqlite(path, query), query
    harness.count(f"{kind} {'answered' if answer['ok'] else 'refused'}")


@tries(800)
@given(query=queries)
def test_no_grammatical_query_raises_writes_or_leaks(hostile: tuple[Path, Reservo], query: str) -> None:
    check(hostile, "generated queries", query)


@tries(600)
@given(query=soups)
def test_no_heap_of_words_raises_writes_or_leaks(hostile: tuple[Path, Reservo], query: str) -> None:
    check(hostile, "heaps of words", query)


@tries(600)
@given(query=edited())
def test_no_edited_hostile_query_raises_writes_or_leaks(hostile: tuple[Path, Reservo], query: str) -> None:
    check(hostile, "edited hostile queries", query)


@tries(300)
@given(query=st.text(st.characters(), max_size=200))
def test_no_text_at_all_raises_writes_or_leaks(hostile: tuple[Path, Reservo], query: str) -> None:
    check(hostile, "random texts", query)
