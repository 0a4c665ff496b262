"""Where the project lies, and how its paths are shown to a person."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def near(path: Path) -> Path:
    """Return `path` relative to the current folder where it lies below it, as a person would type it."""
    try:
        return path.resolve().relative_to(Path.cwd())
    except ValueError:
        return path
