"""The pinned model files: what `configs/models.lock.json` promises, and whether a file matches.

Reading and checking only; `fetch` is the one place that downloads.
"""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from src.base import shell
from src.base.errors import Precondition
from src.base.paths import ROOT, near

LOCK = ROOT / "configs" / "models.lock.json"
MODELS = ROOT / "models"
BLOCK_BYTES = 1 << 20  # 1 MiB: large enough to be fast, small enough to keep memory flat


@dataclass(frozen=True)
class ModelFile:
    """One pinned file: its name, its size in bytes, its SHA-256, and its path inside a wheel if it has one."""

    name: str
    size: int
    sha256: str
    member: str = ""


@dataclass(frozen=True)
class Model:
    """One pinned model: key in the lock file, where it comes from, and its files in loading order."""

    key: str
    source: str
    repository: str
    revision: str
    licence: str
    name: str
    quantisation: str
    files: tuple[ModelFile, ...]

    @property
    def label(self) -> str:
        """The name results are labelled with, e.g. `SmolLM2-135M-Instruct Q4_1`."""
        return f"{self.name} {self.quantisation}"


def load(key: str, lock: Path = LOCK) -> Model:
    """Return the model pinned under `key`, e.g. `embedded`; `Precondition` names the known keys otherwise."""
    pinned = json.loads(lock.read_text(encoding="utf-8"))
    if key not in pinned:
        raise Precondition(f"unknown model {key!r}; {lock.name} pins: {', '.join(pinned)}")
    entry = dict(pinned[key])
    files = tuple(ModelFile(**item) for item in entry.pop("files"))
    return Model(key=key, files=files, **entry)


def pinned_as(label: str) -> tuple[ModelFile, ...]:
    """Return the pinned files of the model with this label, or none: a server may report any name."""
    models = map(load, json.loads(LOCK.read_text(encoding="utf-8")))
    return next((model.files for model in models if model.label == label), ())


def problem(path: Path, pinned: ModelFile, progress: Callable[[int], object] | None = None) -> str:
    """Say what is wrong with the file at `path`, expected against found; an empty string means nothing is.

    `progress` is called with the bytes of each block hashed, for a bar over large files.
    """
    if path.is_symlink() and not path.exists():
        return "is a link to something that is not there"
    if not path.exists():
        return "is missing"
    if not path.is_file() or path.is_symlink():
        return "is not a regular file (a link into a cache breaks inside a container)"
    found = path.stat().st_size
    if found != pinned.size:
        return f"has {found} bytes, expected {pinned.size}"
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
            if progress:
                progress(len(block))
    if digest.hexdigest() != pinned.sha256:
        return f"has SHA-256 {digest.hexdigest()}, expected {pinned.sha256}"
    return ""


def checked(model: Model, folder: Path = MODELS) -> list[Path]:
    """Return the paths of the model's files after checking size and SHA-256 of each.

    `Precondition` names the file, what was expected, what was found, and the command that fetches it.
    """
    paths = []
    for pinned in model.files:
        path = folder / pinned.name
        if fault := problem(path, pinned):
            fetch = shell.command(str(near(ROOT / "scripts" / "fetch_model.py")), "--model", model.key)
            first = "move it away, then " if os.path.lexists(path) else ""
            raise Precondition(f"model file {near(path)} {fault}; {first}fetch it with: {fetch}")
        paths.append(path)
    return paths
