# ruff: noqa: E501  (one row, one query)
"""What SQLite silently answers though it was not asked: an error that says what to write, and nothing honest lost.

Run alone: python -m pytest tests/run_sql/test_pitfalls.py
"""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from src.run_sql import run_sql, validate
from src.run_sql.database import image
from src.run_sql.guard import Reservo
from src.run_sql.text import in_backticks

NO_COLUMN = "OperationalError: no such column: "
MISTAKEN = [
    # a name in double quotes that is not a column
    ('SELECT "precio" FROM rooms LIMIT 2', NO_COLUMN + "precio"),
    ('SELECT COUNT(*) FROM members WHERE "estado" = "activo"', NO_COLUMN + "estado"),
    ('SELECT name FROM members WHERE tier = "pro"', NO_COLUMN + "pro"),
    ('SELECT name FROM rooms r WHERE r."size" > 1', NO_COLUMN + "r.size"),
    ('SELECT name FROM rooms ORDER BY "nombre"', NO_COLUMN + "nombre"),
    ('SELECT COUNT(*) FROM bookings GROUP BY "sala"', NO_COLUMN + "sala"),
    ('SELECT strftime("%Y", starts_at) FROM bookings', NO_COLUMN + "%Y"),
    ('SELECT name FROM rooms WHERE name LIKE "F%"', NO_COLUMN + "F%"),
    ('WITH x AS (SELECT "nada" AS v) SELECT v FROM x', NO_COLUMN + "nada"),
    ('SELECT (SELECT "a""b`c") FROM rooms', NO_COLUMN + 'a"b`c'),
    ('SELECT name FROM rooms WHERE EXISTS (SELECT 1 WHERE "x")', NO_COLUMN + "x"),
    # a column's name in single quotes
    ("SELECT tier, COUNT(*) FROM members GROUP BY 'tier'", "GROUP BY 'tier' usa un texto fijo, no una columna; quita las comillas simples"),
    ("SELECT name FROM rooms ORDER BY 'name'", "ORDER BY 'name' usa un texto fijo"),
    ("SELECT name AS 'sala' FROM rooms ORDER BY id, 'sala' DESC LIMIT 2", "ORDER BY 'sala' usa un texto fijo"),
    ("SELECT rank() OVER (PARTITION BY 'tier' ORDER BY id) FROM members", "PARTITION BY 'tier' usa un texto fijo"),
    ("SELECT COUNT(*) FROM members WHERE 'tier'='pro'", "'tier' = 'pro' no usa ninguna columna: 'tier' es un texto; quita sus comillas"),
    ("SELECT COUNT(*) FROM members WHERE NOT 'pro' = 'TIER'", "'pro' = 'TIER' no usa ninguna columna"),
    ("SELECT COUNT(*) FROM rooms WHERE 'capacity' > 4", "'capacity' > 4 no usa ninguna columna"),
    ("SELECT COUNT(*) FROM members WHERE 'name' LIKE 'A%'", "'name' LIKE 'A%' no usa ninguna columna"),
    ("SELECT COUNT(*) FROM payments WHERE 'note' IS NOT NULL", "'note' IS NULL no usa ninguna columna"),
    ("SELECT COUNT(*) FROM members WHERE 'tier' NOT IN ('pro', 'x')", "'tier' IN 'pro' no usa ninguna columna"),
    # a text compared with a number where neither is a column
    ("SELECT COUNT(*) FROM bookings WHERE strftime('%Y', starts_at) = 2026", "strftime(…) = 2026 compara un texto con un número, que nunca son iguales; escribe el número entre comillas"),
    ("SELECT COUNT(*) FROM bookings WHERE 2026 <> substr(starts_at, 1, 4)", "2026 <> substr(…) compara un texto con un número"),
    ("SELECT COUNT(*) FROM bookings WHERE strftime('%m', starts_at) IN (3, 4)", "strftime(…) IN 3 compara un texto con un número"),
    ("SELECT COUNT(*) FROM bookings WHERE date(starts_at) BETWEEN 20260301 AND 20260331", "date(…) BETWEEN 20260301 compara"),
    ("SELECT method FROM payments GROUP BY method HAVING SUM(amount_cents) < '1'", "SUM(…) < '1' compara un texto con un número, que nunca son iguales; escribe el número sin comillas"),
    ("SELECT CASE WHEN COUNT(*) >= '3' THEN 1 END FROM rooms", "COUNT(…) >= '3' compara"),
    ("SELECT name FROM rooms WHERE length(name) = '5' AND id = 1", "length(…) = '5' compara"),
    # a date that is no date
    ("SELECT COUNT(*) FROM bookings WHERE starts_at < '2026-3-2'", "las fechas se comparan como texto: escribe '2026-03-02' en lugar de '2026-3-2'"),
    ("SELECT COUNT(*) FROM bookings WHERE starts_at BETWEEN '2026-03-01' AND '2026-3-9 10:00'", "escribe '2026-03-09 10:00' en lugar"),
    ("SELECT COUNT(*) FROM bookings WHERE '2026-03-9' <= starts_at", "escribe '2026-03-09' en lugar"),
    # a number that stands for a condition
    ("SELECT name FROM rooms WHERE capacity = 4 OR 6", "OR 6 no compara nada y siempre es cierto; repite la columna o escribe IN (…, 6)"),
    ("SELECT name FROM rooms WHERE (capacity = 4 OR 6.5) ORDER BY 1", "OR 6.5 no compara nada"),
    ("SELECT COUNT(*) FROM rooms WHERE capacity = 4 AND 6", "AND 6 no compara nada y siempre es cierto"),
    ("SELECT COUNT(*) FROM rooms WHERE 6 OR capacity = 4", "WHERE 6 no compara nada"),
    ("SELECT COUNT(*) FROM members WHERE tier = 'pro' OR 'basic'", "OR 'basic' no compara nada y un texto no es una condición; repite la columna o escribe IN (…, 'basic')"),
    ("SELECT COUNT(*) FROM members WHERE tier = ('pro' OR 'basic')", "'pro' OR no compara nada"),
    ("SELECT COUNT(*) FROM members WHERE id BETWEEN 1 AND 4 AND 'pro'", "AND 'pro' no compara nada"),
    ("SELECT COUNT(*) FROM members GROUP BY tier HAVING 'pro'", "HAVING 'pro' no compara nada"),
    # nothing is equal to NULL
    ("SELECT COUNT(*) FROM payments WHERE note = NULL", "= NULL nunca es cierto; escribe IS NULL"),
    ("SELECT id FROM payments WHERE note <> NULL OR id = 1", "<> NULL nunca es cierto; escribe IS NOT NULL"),
    ("SELECT COUNT(*) FROM payments WHERE note NOT IN ('x', NULL)", "IN (…, NULL) no encuentra los NULL"),
    # a comparison with the result of a comparison, or counted as if it were a row
    ("SELECT COUNT(*) FROM rooms WHERE 4 < capacity < 6", "… < capacity < … compara 0 o 1"),
    ("SELECT COUNT(*) FROM rooms r WHERE 4 <= r.capacity < 6", "… <= r . capacity < … compara 0 o 1"),
    ("SELECT COUNT(*) FROM rooms WHERE 1 < length(name) <= 5", "… < length(name) <= … compara 0 o 1"),
    ("SELECT COUNT(amount_cents > 900) FROM payments", "COUNT(…) cuenta también lo que no cumple la condición; escribe COUNT(*) FILTER (WHERE …)"),
    ("SELECT tier, COUNT(DISTINCT tier = 'pro') FROM members GROUP BY tier", "COUNT(…) cuenta también"),
    # a text that is added, or taken for a column in parentheses or in an aggregate
    ("SELECT name + '!' FROM rooms", "+ suma números, y '!' cuenta como 0; para unir textos escribe ||"),
    ("SELECT 'total ' + SUM(amount_cents) FROM payments", "y 'total ' cuenta como 0"),
    ("SELECT tier, COUNT(*) FROM members GROUP BY ('tier')", "GROUP BY 'tier' usa un texto fijo"),
    ("SELECT COUNT(*) FROM members WHERE ('tier') = ('pro')", "'tier' = 'pro' no usa ninguna columna"),
    ("SELECT SUM('amount_cents') FROM payments", "SUM('amount_cents') usa un texto, no la columna; quita sus comillas"),
    ("SELECT COUNT(DISTINCT 'Tier') FROM members", "COUNT('Tier') usa un texto"),
    # dates and hours in another form than SQLite's
    ("SELECT COUNT(*) FROM bookings WHERE starts_at >= '2/3/2026'", "escribe '2026-03-02' en lugar de '2/3/2026'"),
    ("SELECT COUNT(*) FROM bookings WHERE date(starts_at) = '2026/03/02'", "escribe '2026-03-02' en lugar"),
    ("SELECT COUNT(*) FROM bookings WHERE date(starts_at) IN ('2026-03-02', '2026-3-3')", "escribe '2026-03-03' en lugar"),
    ("SELECT COUNT(*) FROM bookings WHERE starts_at > '2026-03-02T09:00'", "escribe '2026-03-02 09:00' en lugar"),
    ("SELECT COUNT(*) FROM bookings WHERE time(starts_at) < '9:00'", "escribe '09:00' en lugar de '9:00'"),
    ("SELECT COUNT(*) FROM bookings WHERE starts_at > date('2026-3-2')", "date(…) no entiende '2026-3-2' y da NULL; escribe '2026-03-02'"),
    ("SELECT strftime('%d', '2.3.2026')", "strftime(…) no entiende '2.3.2026' y da NULL"),
    ("SELECT COUNT(*) FROM bookings WHERE strftime('%m', starts_at) = '3'", "strftime(…) = '3' no encaja: strftime(…) da textos como '03'"),
    ("SELECT COUNT(*) FROM bookings WHERE strftime('%H', starts_at) IN ('9', '10')", "da textos como '09'"),
    ("SELECT COUNT(*) FROM bookings WHERE time(starts_at) = '09:00'", "time(…) = '09:00' no encaja: time(…) da textos como '09:05:07'"),
    ("SELECT COUNT(*) FROM bookings WHERE date(starts_at) > '20260302'", "da textos como '2026-03-02'"),
]  # fmt: skip
HONEST = [
    'SELECT "name" FROM rooms',
    'SELECT r."name" AS "sala" FROM "rooms" AS r ORDER BY "sala"',
    'SELECT "tier", COUNT(*) AS "n" FROM members GROUP BY "tier" HAVING "n" > 1 ORDER BY "n"',
    'WITH "x y" AS (SELECT 1 AS "a""b") SELECT "a""b" FROM "x y"',
    """SELECT '"nada"' FROM rooms -- "nada"
    /* "nada" */""",
    "SELECT name AS \"ORDER BY 'x'\" FROM rooms ORDER BY \"ORDER BY 'x'\"",
    "SELECT name AS 'sala' FROM rooms ORDER BY sala",
    "SELECT name FROM rooms ORDER BY 'x' || name, id",
    "SELECT tier FROM members GROUP BY tier UNION SELECT 'x' ORDER BY 1",
    "SELECT group_concat(name, ' ') FROM members GROUP BY tier, substr('tier', 1, 1)",
    "SELECT id FROM members WHERE name IN ('name', 'tier') OR tier = 'tier' OR 'pro' = tier",
    "SELECT 'a' = 'A' COLLATE NOCASE, '1' = 1, 'x' IN ('x'), 'pro' LIKE 'p%', 'name' || 'x' = 'namex'",
    "SELECT 'name', 'tier' FROM rooms",
    "SELECT json_extract('{\"name\": 1}', '$.name') = 1, '{\"name\": 1}' ->> 'name' = 1",
    "SELECT id FROM bookings WHERE strftime('%Y', starts_at) = '2026' AND CAST(strftime('%m', starts_at) AS INTEGER) = 3",
    "SELECT id FROM bookings WHERE strftime('%Y', starts_at) + 0 = 2026 AND 1 + strftime('%Y', starts_at) = 2027",
    "SELECT id FROM payments WHERE amount_cents > '9' AND length(note) || '' = '5'",
    "SELECT method FROM payments GROUP BY method HAVING SUM(amount_cents) < 1 OR COUNT(*) > 2 + '1'",
    "SELECT id FROM bookings WHERE date(starts_at) = '2026-03-02' AND '2026-3-2' IS NOT NULL",
    "SELECT note FROM payments WHERE note = '10-3-2' OR note LIKE '%2026-3-2%'",
    "SELECT id FROM rooms WHERE capacity = 4 OR capacity = 6 OR 0 OR id BETWEEN 1 AND 6 OR 6 < id",
    "SELECT 1 OR 1, 1 OR (6)",
    "SELECT id FROM rooms WHERE capacity BETWEEN 2 AND 6 AND id BETWEEN 1 AND 4 OR 1",
    "SELECT CASE tier WHEN 'pro' THEN 'sí' ELSE 'no' END FROM members WHERE tier IS NOT 'x' AND NOT 'a' = tier",
    "SELECT NULL = NULL, 1 <> NULL, id IN (SELECT NULL) FROM rooms WHERE id IS NOT NULL",
    "SELECT (capacity > 2) = 1, 2 < capacity AND capacity < 6 FROM rooms WHERE (1 < id) < 2",
    "SELECT COUNT(note), COUNT(CASE WHEN amount_cents > 900 THEN 1 END), COUNT(amount_cents > 900 OR NULL) FROM payments",
    "SELECT COUNT(*) FILTER (WHERE amount_cents > 900), SUM(amount_cents > 900) FROM payments",
    "SELECT '2' + '3', date('2026-03-02', '+1 day'), name || ' + ' FROM rooms WHERE id + '1' = 2",
    "SELECT MIN('x'), COUNT('x'), SUM('5'), MAX('capacity', name) FROM rooms GROUP BY name",
    "SELECT id FROM bookings WHERE date(starts_at) >= '2026-03' AND time(starts_at) < '10' AND datetime(starts_at) > '2026-03-02'",
    "SELECT id FROM bookings WHERE strftime('%m', starts_at) = '03' AND strftime('%Y-%m', starts_at) = '2026-03' AND strftime('%f', starts_at) <> '1'",
    "SELECT date('2026-03-02T09:00'), strftime('%H:%M', starts_at) = '09:00', '1/2/2026' FROM bookings WHERE starts_at LIKE '2026-3%'",
    "SELECT id FROM payments WHERE note <> '12:5' OR note = '1/2' OR note LIKE '2/3/2026'",
]


@pytest.mark.parametrize(("query", "words"), MISTAKEN)
def test_what_was_not_meant_is_an_error_that_names_it(con: Reservo, query: str, words: str) -> None:
    answer = run_sql(query, con)
    assert not answer["ok"], answer
    assert words in answer["error"]
    assert validate(query, con) == (False, answer["error"])


@pytest.mark.parametrize("query", HONEST)
def test_an_honest_query_of_the_same_kind_is_answered_as_sqlite_answers_it(con: Reservo, query: str) -> None:
    answer = run_sql(query, con)
    assert answer["ok"], answer
    with closing(sqlite3.connect(":memory:")) as plain:
        plain.deserialize(image())
        cursor = plain.execute(query)
        assert answer["rows"] == [list(row) for row in cursor]
        assert answer["columns"] == [name for name, *_ in cursor.description]


IDENTIFIERS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\n"), max_size=12)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(IDENTIFIERS)
def test_backticks_name_what_double_quotes_name(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    with closing(sqlite3.connect(":memory:")) as plain:
        for sql in (f"SELECT 1 AS {quoted}", in_backticks(f"SELECT 1 AS {quoted} -- {quoted}")):
            assert [column for column, *_ in plain.execute(sql).description] == [name]


def test_a_model_is_told_the_name_that_it_invented(con: Reservo) -> None:
    assert run_sql('SELECT "precio" FROM rooms', con)["error"] == run_sql("SELECT precio FROM rooms", con)["error"]
