"""The gate: what a compiled statement may do, decided by SQLite's authorizer and not by its text.

Deny by default. Allowed: SELECT, recursion, reading the four tables, and functions from the list below.
It knows nothing of time, memory or size: sizes are bounded in `engine`, time and memory by the system in `serve`.
"""

import sqlite3
from collections.abc import Iterable

from src.run_sql.contract import TABLES

# No printf, format, zeroblob, randomblob (one call can run for seconds or fill memory), random (an answer should
# come out the same twice), load_extension, fts3_tokenizer (code), sqlite_* (about the machine, not the data).
# Of JSON the functions of one value; json_each and json_tree are tables. Some names are of a later SQLite than others.
FUNCTION_NAMES = """
    abs avg ceil ceiling char coalesce count cume_dist current_date current_time current_timestamp date datetime
    dense_rank first_value floor glob group_concat hex ifnull iif instr julianday lag last_value lead length like lower
    ltrim max min mod nth_value ntile nullif percent_rank pow power rank replace round row_number rtrim sign sqrt
    strftime string_agg substr substring sum time timediff total trim trunc typeof unicode unixepoch upper

    concat concat_ws if likelihood likely median octet_length percentile percentile_cont percentile_disc quote unlikely

    acos acosh asin asinh atan atan2 atanh cos cosh degrees exp ln log log10 log2 pi radians sin sinh tan tanh

    -> ->> json json_array json_array_length json_error_position json_extract json_group_array json_group_object
    json_insert json_object json_patch json_quote json_remove json_replace json_set json_type json_valid
"""
FUNCTIONS = frozenset(FUNCTION_NAMES.split())
RESERVED_PREFIXES = ("sqlite_", "pragma_")  # names that SQLite answers without any table of that name

# For the error text: SQLite itself says no more than "not authorized" of an action other than READ and FUNCTION.
ACTION_NAMES = """
    ALTER_TABLE ANALYZE ATTACH CREATE_INDEX CREATE_TABLE CREATE_TEMP_INDEX CREATE_TEMP_TABLE CREATE_TEMP_TRIGGER
    CREATE_TEMP_VIEW CREATE_TRIGGER CREATE_VIEW CREATE_VTABLE DELETE DETACH DROP_INDEX DROP_TABLE DROP_TEMP_INDEX
    DROP_TEMP_TABLE DROP_TEMP_TRIGGER DROP_TEMP_VIEW DROP_TRIGGER DROP_VIEW DROP_VTABLE INSERT PRAGMA READ REINDEX
    SAVEPOINT TRANSACTION UPDATE
"""
ACTIONS = {getattr(sqlite3, f"SQLITE_{name}"): name.replace("_", " ") for name in ACTION_NAMES.split()}


class Gate:
    """An authorizer for one statement; `denied` names the first action it refused, e.g. `DELETE bookings`."""

    def __init__(self, names: Iterable[str]) -> None:
        """Take every name in the file's schema and of every module."""
        self.hidden = frozenset(name.lower() for name in names) - set(TABLES)
        self.denied = ""

    def __call__(self, action: int, first: str | None, second: str | None, database: str | None, _: str | None) -> int:
        """Answer SQLite for one action of the statement that it compiles."""
        if self.allows(action, first or "", second or "", database):
            return sqlite3.SQLITE_OK
        self.denied = self.denied or f"{ACTIONS.get(action, action)} {first or ''}".strip()
        return sqlite3.SQLITE_DENY

    def allows(self, action: int, first: str, second: str, database: str | None) -> bool:
        """Say whether the action is a harmless part of reading the four tables."""
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return True
        if action == sqlite3.SQLITE_FUNCTION:
            return second.lower() in FUNCTIONS
        return action == sqlite3.SQLITE_READ and self.readable(first.lower(), second, database)

    def readable(self, table: str, column: str, database: str | None) -> bool:
        """Say whether a table may be read.

        subtle: a table of which no column is used (`SELECT count(*) FROM t`) is announced with an empty column
        and without its database, and so is a common table expression. Only the latter is not a name in the schema.
        """
        if table in TABLES:
            return database is None or database.lower() == "main"
        common_table = not column and database is None
        return common_table and table not in self.hidden and not table.startswith(RESERVED_PREFIXES)
