"""Where the project is, how its paths are shown to a person, and what is in the way of a file or a folder."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def near(path: Path) -> Path:
    """Return `path` as a person would type it: relative when it is below the current folder."""
    try:
        return path.absolute().relative_to(Path.cwd())  # a link below it is typed by its own name
    except (ValueError, OSError):  # it is elsewhere, or the current folder was deleted
        return path


OUTPUTS = near(ROOT / "outputs")


def results_folder(named: Path | None = None) -> Path:
    """Return the folder of results: the one named, else the one of R3_OUTPUTS, else the project's `outputs/`."""
    return named or Path(os.environ.get("R3_OUTPUTS") or OUTPUTS)


def no_entry(folder: Path) -> str:
    """Say who owns the folder when this user may not write there, with the remedy; else an empty string.

    A file system that is read-only for everyone is left to the operating system's own message.
    """
    if os.access(folder, os.W_OK | os.X_OK) or _read_only(folder):
        return ""
    found = folder.stat()
    return (
        f"{folder} belongs to user {found.st_uid} (mode {found.st_mode & 0o7777:o}) and this program runs as user "
        f"{os.geteuid()}, who may not write there; for a container run once: sh scripts/setup.sh"
    )


def dangling(path: Path) -> str:
    """Say that a path is a link to nothing, with the remedy; else an empty string."""
    if path.is_symlink() and not path.exists():
        return f"{path} is a link to something that is not there; remove it, or bring that back"
    return ""


def no_file(path: Path) -> str:
    """Say that something else is in the place of a file, with the remedy; else, or where nothing is, an empty text."""
    if path.exists() and not path.is_file():
        return f"{path} is no file; something else is in its place: move it away"
    return dangling(path)


def _read_only(folder: Path) -> bool:
    """Whether the whole file system refuses writes; one that cannot say is not taken for such."""
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:
        return False
