"""Results as JSON: every SQLite value, the row cap, the cell cap and the budget of a whole result.

Run alone: python -m pytest tests/run_sql/test_values.py
"""

import json

import pytest

from src.run_sql import run_sql
from src.run_sql.guard import Reservo
from src.run_sql.values import MAX_CELL_CHARS, MAX_NAME_CHARS, MAX_RESULT_CHARS, plain

LONG = "WITH RECURSIVE g(n, t) AS (SELECT 1, 'a' UNION ALL SELECT n + 1, t || t FROM g WHERE n < 13) "
CELLS = [
    ("NULL", None),
    ("1", 1),
    ("1.0", 1.0),
    ("-9223372036854775808", -(2**63)),
    ("9007199254740993", 2**53 + 1),
    ("'ñ'", "ñ"),
    ("x'00ff'", "x'00ff'"),
    ("x''", "x''"),
    ("9e999", "Infinity"),
    ("-9e999", "-Infinity"),
    ("9e999 - 9e999", None),  # SQLite has no NaN
    ("CAST(x'41ff42' AS TEXT)", "A\ufffdB"),
    ("char(55296)", "\ufffd\ufffd\ufffd"),  # a surrogate has no UTF-8
    ("char(0)", "\x00"),
    ("TRUE", 1),
]


@pytest.mark.parametrize(("expression", "value"), CELLS)
def test_every_value_has_a_documented_place_in_json(con: Reservo, expression: str, value: object) -> None:
    answer = run_sql(f"SELECT {expression}", con)
    assert answer["rows"] == [[value]]
    assert json.loads(json.dumps(answer, allow_nan=False)) == answer
    assert answer["truncated"] is False


def test_a_type_that_sqlite_does_not_have_is_no_cell() -> None:
    with pytest.raises(TypeError, match="complex"):
        plain(1j)


@pytest.mark.parametrize(("asked", "returned", "truncated"), [(22, 22, True), (23, 23, False), (24, 23, False)])
def test_truncated_tells_whether_a_row_was_left_out(con: Reservo, asked: int, returned: int, truncated: bool) -> None:
    answer = run_sql("SELECT id FROM bookings", con, max_rows=asked)
    assert (len(answer["rows"]), answer["truncated"]) == (returned, truncated)


def test_a_hundred_rows_is_the_default_and_the_most(con: Reservo) -> None:
    answer = run_sql("SELECT a.id FROM bookings a, bookings b", con)
    assert (len(answer["rows"]), answer["truncated"]) == (100, True)


@pytest.mark.parametrize("max_rows", [0, -1, 101, True, 1.0, "1", None, 2**64])
def test_a_row_limit_outside_of_1_to_100_is_refused(con: Reservo, max_rows: object) -> None:
    answer = run_sql("SELECT 1", con, max_rows=max_rows)  # type: ignore[arg-type]
    assert answer == {"ok": False, "error": "max_rows debe ser un entero de 1 a 100"}


def test_a_long_cell_is_cut_and_says_so_itself_which_is_not_what_truncated_says(con: Reservo) -> None:
    answer = run_sql(LONG + "SELECT t FROM g WHERE n = 12", con)
    cut = ["a" * MAX_CELL_CHARS + "… [2048 caracteres]"]
    assert (answer["rows"], answer["truncated"]) == ([cut], False)
    answer = run_sql(LONG + "SELECT t FROM g WHERE n >= 12", con, max_rows=1)
    assert (answer["rows"], answer["truncated"]) == ([cut], True)


def test_only_a_cell_that_was_cut_is_longer_than_the_most(con: Reservo) -> None:
    answer = run_sql(f"SELECT '{'a' * 1980}… [2048 caracteres]', '{'a' * MAX_CELL_CHARS}'", con)
    assert [len(str(cell)) for cell in answer["rows"][0]] == [1999, MAX_CELL_CHARS]


def test_a_long_column_name_is_cut(con: Reservo) -> None:
    answer = run_sql(f'SELECT 1 AS "{"n" * 5000}"', con)
    assert answer["columns"] == ["n" * MAX_NAME_CHARS + "…"]


def test_a_large_result_stops_at_its_budget_and_says_so(con: Reservo) -> None:
    answer = run_sql(LONG + "SELECT a.t FROM g a, g b, g c WHERE a.n = 12", con)
    size = sum(len(str(row[0])) for row in answer["rows"])
    assert MAX_RESULT_CHARS <= size <= MAX_RESULT_CHARS + MAX_CELL_CHARS + len("… [2048 caracteres]")
    assert answer["truncated"] is True
    assert len(answer["rows"]) < 100


def test_equal_column_names_keep_their_values(con: Reservo) -> None:
    answer = run_sql('SELECT 1 AS a, 2 AS a, 3 AS ""', con)
    assert (answer["columns"], answer["rows"]) == (["a", "a", ""], [[1, 2, 3]])


def test_an_error_never_echoes_a_whole_query(con: Reservo) -> None:
    error = run_sql("SELECT " + "x" * 9000, con)["error"]
    assert error.startswith("OperationalError: no such column: xxx")
    assert len(error) == 501
