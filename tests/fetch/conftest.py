"""A hub on loopback, a lock file that pins what it serves, and the script, forked or as a reader runs it."""

import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from src.base import certificates
from tests.fetch import hub as stand_in
from tests.support import forked
from tests.support.inprocess import Ended

ROOT = Path(__file__).resolve().parents[2]
FIRST = random.Random(1).randbytes(300_000)
SECOND = random.Random(2).randbytes(200_000)


def clean_environment() -> dict[str, str]:
    """The shell's environment without what would lead a client elsewhere."""
    strange = ("HF_", "PIP_", "R3_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "PYTHONPATH", *certificates.NAMES)
    return {key: value for key, value in os.environ.items() if not key.upper().startswith(strange)}


def pin(folder: Path, key: str, entry: dict[str, object]) -> Path:
    lock = folder / "models.lock.json"
    pinned = json.loads(lock.read_text()) if lock.exists() else {}
    common = {"licence": "none", "name": "Tiny", "quantisation": "Q0"}
    lock.write_text(json.dumps({**pinned, key: {**common, **entry}}))
    return lock


def pinned_file(name: str, body: bytes, **more: object) -> dict[str, object]:
    return {"name": name, "size": len(body), "sha256": hashlib.sha256(body).hexdigest(), **more}


@dataclass
class Script:
    """What `scripts/fetch_model.py` runs, with a lock file, a destination and an environment of the test's own."""

    lock: Path
    dest: Path
    home: Path
    env: dict[str, str] = field(default_factory=dict)

    def command(self, *args: str) -> list[str]:
        script = str(ROOT / "scripts" / "fetch_model.py")
        return [sys.executable, script, "--lock", str(self.lock), "--dest", str(self.dest), *args]

    def environment(self) -> dict[str, str]:
        quick = {"HF_HUB_DOWNLOAD_TIMEOUT": "1", "HF_HUB_ETAG_TIMEOUT": "1", "HF_HOME": str(self.home)}
        return {**clean_environment(), "PYTHONDONTWRITEBYTECODE": "1", **quick, **self.env}

    def run(self, *args: str, model: str = "tiny") -> Ended:
        with self.start(*args, model=model) as process:
            return process.ended()

    def start(self, *args: str, model: str = "tiny") -> forked.Program:
        words = self.command("--model", model, *args)[2:]
        return forked.start("src.weights.fetch", *words, env=self.environment())

    def as_a_reader_does(self, *before: str, words: Sequence[str] = ("--model", "tiny")) -> Ended:
        """Run the script in a new interpreter, after what stands `before` it."""
        command = [*before, *self.command(*words)]
        env, limit_s = self.environment(), forked.LIMIT_S
        done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=limit_s)
        return Ended(done.returncode, done.stdout, done.stderr)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.dest.iterdir())


@pytest.fixture
def hub() -> Iterator[stand_in.Hub]:
    with stand_in.serving() as server:
        server.files = {"a.gguf": FIRST, "b.gguf": SECOND}
        yield server


@pytest.fixture
def script(tmp_path: Path, hub: stand_in.Hub) -> Script:
    (tmp_path / "lock").mkdir()
    files = [pinned_file("a.gguf", FIRST), pinned_file("b.gguf", SECOND)]
    source = {"source": "huggingface", "repository": stand_in.REPOSITORY, "revision": stand_in.REVISION}
    lock = pin(tmp_path / "lock", "tiny", {**source, "files": files})
    return Script(lock, tmp_path / "models", tmp_path / "home", {"HF_ENDPOINT": hub.url})


def last_line(done: Ended) -> str:
    """The one line a failure ends in; a traceback is never right."""
    assert "Traceback" not in done.err, done.err
    line = done.err.strip().splitlines()[-1]
    assert line.startswith("fetch_model: "), done.err
    return line
