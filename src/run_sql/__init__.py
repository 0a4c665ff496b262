"""The `run_sql` lesson: a tool whose argument is SQL, so the contract needs two sides.

`contract` is what a model is told, `tool` is what runs. Start reading at `tool.run_sql`.
A separate package, with its own database and commands; nothing here is reachable from `src.cli`.
`from src.run_sql import *` brings all names that the lesson's own lines use, its two modules included.
"""

import json
import sqlite3

from src.run_sql.contract import count_rows_tool, run_sql_tool
from src.run_sql.guard import open_reservo
from src.run_sql.text import strip_sql
from src.run_sql.tool import count_rows, run_sql, validate

__all__ = [
    "count_rows",
    "count_rows_tool",
    "json",
    "open_reservo",
    "run_sql",
    "run_sql_tool",
    "sqlite3",
    "strip_sql",
    "validate",
]
