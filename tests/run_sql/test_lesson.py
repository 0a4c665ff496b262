"""Every output block of the lesson, byte for byte, from the calls that the lesson shows.

Run alone: python -m pytest tests/run_sql/test_lesson.py
"""

import json
import sqlite3
from typing import Any

import pytest

from src.run_sql import count_rows, count_rows_tool, open_reservo, run_sql, run_sql_tool, strip_sql, validate
from src.run_sql.guard import Reservo

GOOD = "SELECT name, capacity FROM rooms WHERE capacity >= 4 ORDER BY capacity"
WORKED_EXAMPLE = [
    (
        GOOD,
        '{"ok": true, "columns": ["name", "capacity"], '
        '"rows": [["Studio", 4], ["Lounge", 6], ["Boardroom", 10]], "truncated": false}',
    ),
    ("SELECT SUM(b.total) FROM bookings b", '{"ok": false, "error": "OperationalError: no such column: b.total"}'),
    ("DELETE FROM rooms", '{"ok": false, "error": "no es de solo lectura (empieza con DELETE)"}'),
    ("SELECT COUNT(*) FROM rooms; DROP TABLE rooms", '{"ok": false, "error": "más de una sentencia"}'),
]
EXERCISE_2 = (
    "SELECT tier, COUNT(*) AS n FROM members GROUP BY tier",
    '{"ok": true, "columns": ["tier", "n"], "rows": [["basic", 4], ["pro", 4]], "truncated": false}',
)


def printed(value: Any) -> str:
    """Return what the lesson's `print(json.dumps(…, ensure_ascii=False))` prints."""
    return json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(("query", "output"), [*WORKED_EXAMPLE, EXERCISE_2])
def test_the_queries_of_the_lesson_print_what_the_lesson_prints(con: Reservo, query: str, output: str) -> None:
    assert printed(run_sql(query, con)) == output


def test_the_row_cap_prints_what_the_lesson_prints(con: Reservo) -> None:
    answer = run_sql("SELECT name FROM rooms ORDER BY id", con, max_rows=3)
    assert printed(answer) == (
        '{"ok": true, "columns": ["name"], "rows": [["Focus"], ["Studio"], ["Boardroom"]], "truncated": true}'
    )


def test_a_delete_straight_on_the_connection_prints_what_the_lesson_prints(con: Reservo) -> None:
    with pytest.raises(sqlite3.Error) as refused:
        con.execute("DELETE FROM bookings")
    assert f"{type(refused.value).__name__}: {refused.value}" == (
        "OperationalError: attempt to write a readonly database"
    )
    assert f"reservas intactas: {con.execute('SELECT COUNT(*) FROM bookings').fetchone()[0]}" == "reservas intactas: 23"


def test_the_whole_lesson_runs_from_a_folder_that_holds_reservo_db(
    reservo: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(reservo.parent)
    con = open_reservo()
    assert printed(run_sql(GOOD, con)) == WORKED_EXAMPLE[0][1]
    con.close()


def test_validate_says_the_same_as_run_sql(con: Reservo) -> None:
    assert validate(GOOD, con) == (True, None)
    for query, output in WORKED_EXAMPLE[1:]:
        assert validate(query, con) == (False, json.loads(output)["error"])
    assert validate("  -- nada\n", con) == (False, "consulta vacía")


def test_strip_sql_removes_comments_and_outer_blanks() -> None:
    assert strip_sql("  -- uno\nSELECT 1 /* dos */;  ") == "SELECT 1 ;"


def test_the_description_is_the_lessons() -> None:
    assert run_sql_tool == {
        "name": "run_sql",
        "description": "Ejecuta una consulta SQL de SOLO LECTURA (SELECT) contra la base de datos Reservo (SQLite) y "
        "devuelve las filas resultantes. Las tablas son: rooms, members, bookings, payments. El dinero esta en "
        "centavos (INTEGER). Devuelve {ok, columns, rows} si funciona, o {ok: false, error} si falla.",
        "input_schema": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "La consulta SQL SELECT a ejecutar."}},
            "required": ["query"],
        },
    }


def test_the_contract_of_exercise_3_is_the_lessons_and_is_kept(con: Reservo) -> None:
    tables = ["rooms", "members", "bookings", "payments"]
    assert count_rows_tool == {
        "name": "count_rows",
        "description": "Cuenta las filas de una tabla de Reservo y devuelve el total. Tablas validas: rooms, members, "
        "bookings, payments. Devuelve {ok, count} si funciona, o {ok: false, error} si la tabla no existe.",
        "input_schema": {
            "type": "object",
            "properties": {
                "table": {"type": "string", "enum": tables, "description": "El nombre de la tabla a contar."}
            },
            "required": ["table"],
        },
    }
    assert [count_rows(table, con) for table in tables] == [{"ok": True, "count": n} for n in (5, 8, 23, 18)]


@pytest.mark.parametrize("table", ["usuarios", "ROOMS", "rooms; DROP TABLE rooms", "", None, 1, ["rooms"], {}, True])
def test_count_rows_refuses_whatever_is_not_one_of_the_four_names(con: Reservo, table: Any) -> None:
    assert count_rows(table, con) == {
        "ok": False,
        "error": "tabla desconocida (válidas: rooms, members, bookings, payments)",
    }
