"""The text check alone: what counts as a comment, a blank, a statement and a first word.

Run alone: python -m pytest tests/run_sql/test_text.py
"""

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from src.run_sql.text import pieces, split_statement, strip_sql, text_fault

EMPTY, MANY = "consulta vacía", "más de una sentencia"

STRIPPED = [
    ("SELECT 1", "SELECT 1"),
    ("\ufeff\t\r\n SELECT 1 \f", "SELECT 1"),
    ("SELECT/**/1", "SELECT 1"),  # the comment was all that kept the words apart
    ("SELECT 1 /* x */ + 1", "SELECT 1  + 1"),
    ("SELECT 1 -- x\n+ 1", "SELECT 1 \n+ 1"),
    ("SELECT '--', \"/*\", `;`, [--] -- x", "SELECT '--', \"/*\", `;`, [--]"),
    ("SELECT 'it''s -- fine'", "SELECT 'it''s -- fine'"),
    ("SELECT 1 /* left open", "SELECT 1"),
    ("SELECT 1 - -1 / 2", "SELECT 1 - -1 / 2"),
    ("\xa0SELECT 1", "\xa0SELECT 1"),  # a no-break space is no blank to SQLite
    ("-- \r SELECT 1", ""),  # only a line feed ends a comment
    ("", ""),
]
FAULTS = [
    ("SELECT 1", None),
    ("select 1;", None),
    ("WITH x AS (SELECT 1) SELECT * FROM x", None),
    ("VALUES (1)", None),
    ("SELECT(1)", None),
    ("SELECT ';'", None),
    ("SELECT 1;;; ; -- ; \n", None),
    ("/* ; */ SELECT 1 -- ;", None),
    ("", EMPTY),
    (";", EMPTY),
    (";;; -- x", EMPTY),
    ("/* SELECT 1", EMPTY),
    ("SELECT 1; SELECT 2", MANY),
    ("; SELECT 1", MANY),
    ("SELECT 1; x", MANY),
    ("DELETE FROM rooms; SELECT 1", MANY),
    ("SELECT 1 /* ; */ ; 'x'", MANY),
    ("drop table rooms", "no es de solo lectura (empieza con DROP)"),
    ("EXPLAIN SELECT 1", "no es de solo lectura (empieza con EXPLAIN)"),
    ("SELECTED", "no es de solo lectura (empieza con SELECTED)"),
    ("ſelect 1", "no es de solo lectura (empieza con ſelect)"),  # upper() would make it SELECT
    ("(SELECT 1)", "no es de solo lectura (empieza con (SELECT)"),
    ("\xa0SELECT 1", "no es de solo lectura (empieza con \xa0SELECT)"),
    ("x" * 99, f"no es de solo lectura (empieza con {'X' * 40})"),
]


@pytest.mark.parametrize(("sql", "stripped"), STRIPPED)
def test_strip_sql_touches_comments_and_outer_blanks_only(sql: str, stripped: str) -> None:
    assert strip_sql(sql) == stripped


@pytest.mark.parametrize(("sql", "fault"), FAULTS)
def test_the_fault_is_named_in_the_lessons_words(sql: str, fault: str | None) -> None:
    assert text_fault(sql) == fault


def test_the_statement_is_a_prefix_of_the_text_and_never_rewritten() -> None:
    sql = "/* a */ SELECT '/*', 1 -- b\n ; -- c"
    assert split_statement(sql).body == "/* a */ SELECT '/*', 1 -- b\n "


FRAGMENTS = st.lists(
    st.sampled_from(
        ["SELECT", " ", "1", ";", "'", '"', "`", "[", "]", "--", "/*", "*/", "\n", "-", "/", "é", "x", "''"]
    )
)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(FRAGMENTS.map("".join))
def test_pieces_put_together_are_the_text_and_a_text_that_sqlite_runs_is_never_called_two_statements(sql: str) -> None:
    assert "".join(text for _, text in pieces(sql)) == sql
    con = sqlite3.connect(":memory:")
    try:
        con.execute(sql)
    except (sqlite3.Error, sqlite3.Warning):
        return
    finally:
        con.close()
    assert text_fault(sql) in (None, EMPTY)
