"""The side of the contract that a model reads: name, purpose and arguments of each tool.

The texts are the lesson's, to the letter, since readers compare them. Nothing here runs any SQL,
and nothing here protects anything: a model is free to ignore every word of it.
"""

from src.run_sql.records import Description

TABLES = ("rooms", "members", "bookings", "payments")

run_sql_tool: Description = {
    "name": "run_sql",
    "description": (
        "Ejecuta una consulta SQL de SOLO LECTURA (SELECT) contra la base de datos "
        "Reservo (SQLite) y devuelve las filas resultantes. Las tablas son: "
        "rooms, members, bookings, payments. El dinero esta en centavos (INTEGER). "
        "Devuelve {ok, columns, rows} si funciona, o {ok: false, error} si falla."
    ),
    "input_schema": {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "La consulta SQL SELECT a ejecutar.",
            }
        },
        "required": ["query"],
    },
}

count_rows_tool: Description = {
    "name": "count_rows",
    "description": (
        "Cuenta las filas de una tabla de Reservo y devuelve el total. "
        "Tablas validas: rooms, members, bookings, payments. "
        "Devuelve {ok, count} si funciona, o {ok: false, error} si la tabla no existe."
    ),
    "input_schema": {
        "type": "object",
        "properties": {
            "table": {
                "type": "string",
                "enum": ["rooms", "members", "bookings", "payments"],
                "description": "El nombre de la tabla a contar.",
            }
        },
        "required": ["table"],
    },
}
