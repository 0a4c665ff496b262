# ruff: noqa: E501  (one row, one query)
"""Honest questions of an analyst, in every corner of SQL that they use, with the answer each must get.

Run alone: python -m pytest tests/run_sql/test_analytics.py
"""

from typing import Any

import pytest

from src.run_sql import run_sql
from src.run_sql.gate import FUNCTIONS
from src.run_sql.guard import Reservo
from tests.run_sql import harness

ANSWERS: list[tuple[str, list[list[Any]]]] = [
    # aggregates, grouping, NULL
    ("SELECT method, SUM(amount_cents) FROM payments GROUP BY method HAVING SUM(amount_cents) > 12000 ORDER BY 2 DESC", [["cash", 21520], ["card", 18780]]),
    ("SELECT status, COUNT(*) FILTER (WHERE room_id = 1) FROM bookings GROUP BY status", [["cancelled", 0], ["confirmed", 5]]),
    ("SELECT COUNT(*), COUNT(note), COUNT(DISTINCT method) FROM payments", [[18, 5, 3]]),
    ("SELECT NULL + 1, NULL = NULL, NULL IS NULL, COALESCE(NULL, 'x'), NULLIF(1, 1), IIF(NULL, 1, 2)", [[None, None, 1, "x", None, 2]]),
    ("SELECT 7 / 2, 7.0 / 2, -7 / 2, 7 % 3, 5 / 0, 1 = 1.0, '1' = 1, 'a' || NULL", [[3, 3.5, -3, 1, None, 1, 0, None]]),
    ("SELECT id FROM payments WHERE note IS NOT NULL ORDER BY note DESC NULLS LAST LIMIT 2", [[7], [12]]),
    # joins, subqueries, sets
    ("SELECT b.id FROM bookings b LEFT JOIN payments p ON p.booking_id = b.id WHERE p.id IS NULL AND b.status = 'confirmed'", [[20], [22]]),
    ("SELECT COUNT(*) FROM bookings a JOIN bookings b ON a.room_id = b.room_id AND a.id < b.id AND a.starts_at < b.ends_at AND b.starts_at < a.ends_at", [[0]]),
    ("SELECT name FROM rooms WHERE (id, capacity) IN (VALUES (1, 2), (5, 9))", [["Focus"]]),
    ("SELECT r.name, (SELECT COUNT(*) FROM bookings b WHERE b.room_id = r.id) AS n FROM rooms r ORDER BY n DESC, r.name LIMIT 2", [["Studio", 6], ["Boardroom", 5]]),
    ("SELECT 'Focus' INTERSECT SELECT name FROM rooms UNION ALL SELECT 'x' EXCEPT SELECT 'y' ORDER BY 1", [["Focus"], ["x"]]),
    ("SELECT column2 FROM (VALUES (1, 'a'), (2, 'b')) WHERE column1 = 2", [["b"]]),
    # common tables and windows
    ("WITH a AS (SELECT room_id, COUNT(*) AS n FROM bookings GROUP BY 1), b AS (SELECT MAX(n) AS m FROM a) SELECT r.name, n FROM a JOIN b ON n = m JOIN rooms r ON r.id = room_id", [["Studio", 6]]),
    ("WITH RECURSIVE d(day) AS (VALUES ('2026-03-01') UNION ALL SELECT date(day, '+1 day') FROM d WHERE day < '2026-03-04') SELECT day, COUNT(b.id) FROM d LEFT JOIN bookings b ON date(b.starts_at) = day GROUP BY day", [["2026-03-01", 0], ["2026-03-02", 2], ["2026-03-03", 2], ["2026-03-04", 2]]),
    ("WITH RECURSIVE f(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM f LIMIT 8) SELECT group_concat(a, ' ') FROM f", [["0 1 1 2 3 5 8 13"]]),
    ("SELECT id, amount_cents - LAG(amount_cents, 1, 0) OVER (ORDER BY id) FROM payments LIMIT 3", [[1, 1200], [2, 1680], [3, 4320]]),
    ("SELECT name, RANK() OVER w, NTILE(2) OVER w, ROUND(CUME_DIST() OVER w, 1) FROM rooms WINDOW w AS (ORDER BY capacity DESC) LIMIT 2", [["Boardroom", 1, 1, 0.2], ["Lounge", 2, 1, 0.4]]),
    ("SELECT id, SUM(amount_cents) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) FROM payments LIMIT 2", [[1, None], [2, 1200]]),
    # dates
    ("SELECT date('2026-03-31', 'start of month', '+1 month', '-1 day'), time('12:00', '+90 minutes'), strftime('%d/%m/%Y', '2026-03-02')", [["2026-03-31", "13:30:00", "02/03/2026"]]),
    ("SELECT SUM(strftime('%s', ends_at) - strftime('%s', starts_at)) / 3600.0 FROM bookings WHERE status = 'confirmed'", [[43.5]]),
    ("SELECT strftime('%w', starts_at) AS weekday, COUNT(*) FROM bookings GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 2", [["1", 6], ["2", 5]]),
    # text and tricky literals
    ("SELECT 'it''s; -- /* no */', '\"', '''', '%_\\', 'a\nb'", [["it's; -- /* no */", '"', "'", "%_\\", "a\nb"]]),
    ("SELECT '100%' LIKE '100\\%' ESCAPE '\\', 'a_b' LIKE 'a!_b' ESCAPE '!', 'axb' LIKE 'a!_b' ESCAPE '!'", [[1, 1, 0]]),
    ("SELECT 'Íñigo' LIKE 'íñigo', 'Focus' LIKE 'fOCUS', 'Focus' GLOB 'F[n-p]c??', 'Focus' GLOB 'f*'", [[0, 1, 1, 0]]),
    ("SELECT id FROM payments WHERE note LIKE '%''Aurora''%' OR note LIKE '%-- con%'", [[7], [15]]),
    ("WITH años AS (SELECT 1 AS \"día ñ\") SELECT [día ñ], `día ñ` AS 数 FROM años", [[1, 1]]),
    ("SELECT substr('reserva', -3), replace('a-b', '-', ' -- '), instr('abc', 'c'), trim('··x·', '·'), upper('ñ'), length('ñandú'), hex('ñ'), char(241), unicode('ñ')", [["rva", "a -- b", 3, "x", "ñ", 5, "C3B1", "ñ", 241]]),
    ("SELECT quote('it''s'), quote(NULL), quote(1.5), typeof(1), typeof('1'), CAST('12abc' AS INTEGER)", [["'it''s'", "NULL", "1.5", "integer", "text", 12]]),
    ("SELECT CASE WHEN capacity > 5 THEN 'grande' WHEN capacity > 1 THEN 'media' ELSE 'cabina' END AS t, COUNT(*) FROM rooms GROUP BY t ORDER BY t", [["cabina", 1], ["grande", 2], ["media", 2]]),
    # JSON made and read, and mathematics
    ("SELECT json_object('sala', name, 'plazas', capacity) FROM rooms WHERE id = 1", [['{"sala":"Focus","plazas":2}']]),
    ("SELECT json_group_array(name) FROM (SELECT name FROM rooms ORDER BY id LIMIT 2)", [['["Focus","Studio"]']]),
    ("SELECT json_group_object(name, capacity) FROM (SELECT * FROM rooms ORDER BY id LIMIT 2)", [['{"Focus":2,"Studio":4}']]),
    ("""SELECT json_extract('{"a":[1,2]}', '$.a[1]'), '{"a":"x"}' ->> 'a', '{"a":"x"}' -> '$.a', json_array_length('[1,2]'), json_valid('{'), json_type('[1]')""", [[2, "x", '"x"', 2, 0, "array"]]),
    ("SELECT round(ln(exp(2)), 6), round(log10(1000), 6), log(2, 8), round(pi(), 4), round(degrees(pi()), 1), sqrt(16), pow(2, 10), sign(-3), ceil(1.2), floor(-1.2)", [[2.0, 3.0, 3.0, 3.1416, 180.0, 4.0, 1024.0, -1, 2.0, -2.0]]),
]  # fmt: skip


@pytest.mark.parametrize(("query", "rows"), ANSWERS)
def test_an_honest_query_gets_its_answer(con: Reservo, query: str, rows: list[list[Any]]) -> None:
    answer = run_sql(query, con)
    assert answer["ok"], answer
    assert (answer["rows"], answer["truncated"]) == (rows, False)
    harness.count("analysts' queries")


@pytest.mark.parametrize("query", [query for query, _ in ANSWERS])
def test_layout_comments_and_a_semicolon_change_nothing(con: Reservo, query: str) -> None:
    plain = run_sql(query, con)
    assert run_sql(f"\ufeff-- question; 1\n/* ' */ {query} ;; -- 'end\n", con)["rows"] == plain["rows"]


def test_the_list_names_no_function_that_the_gate_is_there_to_stop() -> None:
    known = {"printf", "format", "zeroblob", "randomblob", "random", "load_extension", "fts3_tokenizer", "json_each"}
    assert not FUNCTIONS & known
    assert not [name for name in FUNCTIONS if name.startswith(("sqlite_", "pragma_", "jsonb"))]
