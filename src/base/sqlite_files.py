"""What can be told about a SQLite file without SQLite: whether reading it would write anything beside it."""

from pathlib import Path

# With one of these present the file's digest is not that of the data, and even a reader may write beside the file.
SIDECARS = ("-journal", "-wal", "-shm")
JOURNAL_MODE = slice(18, 20)  # bytes of the file's header, sqlite.org/fileformat2.html section 1.3
WRITE_AHEAD = b"\x02\x02"


def in_wal_mode(database: Path) -> bool:
    """Whether even reading this SQLite file would create others beside it."""
    with database.open("rb") as file:
        return file.read(JOURNAL_MODE.stop)[JOURNAL_MODE] == WRITE_AHEAD
