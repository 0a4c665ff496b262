"""The command line as a user runs it, in a folder of the test's own, and proof that nothing else changed."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from src import cli
from src.base import certificates
from src.going_further import cli as going_further_cli
from src.run_sql import cli as run_sql_cli
from tests.support import forked, inprocess
from tests.support.inprocess import Ended

ROOT = Path(__file__).resolve().parents[2]
STRANGE = ("LLM_", "R3_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "PYTHON", *certificates.NAMES)
PASSING = {".git", "__pycache__", ".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache", ".venv"}
LARGE = 1 << 22  # bytes; of a larger file (the model) the size and the time stand for the content
LIMIT_S = 120  # for one command: reached only when it hangs


def environment(**values: str) -> dict[str, str]:
    """The shell's environment without the variables that would redirect the program.

    No bytecode is written: on a full disk Python leaves half of it behind as if it were whole.
    """
    kept = {key: value for key, value in os.environ.items() if not key.upper().startswith(STRANGE)}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **values}


def snapshot(folder: Path) -> dict[str, str]:
    """Every file below `folder` by name, with the digest of its bytes; caches that tools leave behind are ignored."""
    found = {}
    for base, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in PASSING)
        for name in sorted(files):
            path = Path(base) / name
            state = path.lstat()
            mark = f"{state.st_size} {state.st_mtime_ns}"
            if state.st_size < LARGE and path.is_file() and not path.is_symlink():
                mark = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path.relative_to(folder))] = mark
    return found


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    """Fail if any file below `folder` changed, appeared or disappeared during the block."""
    before = snapshot(folder)
    yield
    assert snapshot(folder) == before


def run(
    *words: str | Path,
    root: Path = ROOT,
    env: Mapping[str, str] | None = None,
    program: str = "src.cli",
    stdin: str = "",
) -> Ended:
    """Run `python -m src.cli` with these words, in this process unless another is needed.

    A copy of the project needs one, and so do variables that only the interpreter reads.
    """
    argv, env = [*map(str, words)], environment() if env is None else env
    mains = {"src.cli": cli.main, "src.run_sql": run_sql_cli.main, "src.going_further": going_further_cli.main}
    if root == ROOT and not {"PYTHONIOENCODING", "PYTHONPATH"} & set(env):
        return inprocess.call(mains[program], argv, root, env, stdin)
    done = subprocess.run(
        [sys.executable, "-m", program, *argv],
        cwd=root,
        env=env,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@dataclass
class Shop:
    """A prepared folder of results and the address of the model server."""

    outputs: Path
    url: str = "http://127.0.0.1:1"
    env: dict[str, str] = field(default_factory=dict)
    root: Path = ROOT

    def words(self, *args: str) -> list[str]:
        return [*args, "--outputs", str(self.outputs)]

    def command(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "src.cli", *self.words(*args)]

    def environment(self) -> dict[str, str]:
        quick = {"LLM_BASE_URL": self.url, "LLM_TIMEOUT_S": "5", "LLM_WAIT_S": "2"}
        return environment(**{**quick, **self.env})

    def run(self, *args: str) -> Ended:
        return run(*self.words(*args), root=self.root, env=self.environment())

    def start(self, *args: str) -> forked.Program:
        """Start the command in a process, to see what happens to it from outside."""
        assert self.root == ROOT
        return forked.start("src.cli", *self.words(*args), env=self.environment())

    def read(self, name: str = "agent.json") -> Any:
        """A result file, read as strictly as any other program might read it."""
        return json.loads((self.outputs / name).read_text(encoding="utf-8"), parse_constant=_not_json)

    @property
    def database(self) -> Path:
        return self.outputs / "stock.db"


def _not_json(name: str) -> None:
    raise ValueError(name)


def copy_project(target: Path, *more: str) -> Path:
    """Copy what the program needs, and `more`, without models and results; returns the copy's root."""
    for part in ("src", "configs", "data", *more):
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, target / part, ignore=shutil.ignore_patterns(*PASSING - {"__pycache__"}))
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target / part)
    (target / "models").mkdir()
    (target / "outputs").mkdir()
    return target


def failed(done: Ended, status: int, says: str = "") -> str:
    """Check that a command failed as the interface promises, and return its one line."""
    assert done.status == status, (done.status, done.out, done.err)
    assert done.line.count("\n") == 1 and done.line.endswith("\n"), done.err
    assert re.match(r"python -m src\.cli \w*: .", done.line), done.err
    shown_safely(done)
    assert re.search(says, done.line), done.err
    return done.line


def succeeded(done: Ended) -> str:
    """Check that a command did its work and named no failure, and return what it printed on both streams."""
    assert done.status == 0, (done.status, done.out[-2000:], done.err)
    assert done.line == ""
    shown_safely(done)
    return done.out + done.err


def shown_safely(done: Ended) -> None:
    """Check that nothing reached the terminal but printable characters and line ends, and no traceback."""
    for text in (done.out, done.err):
        assert "Traceback" not in text, text
        assert not [c for c in text if not c.isprintable() and c != "\n"], ascii(text)
        assert max(map(len, text.split("\n"))) < 2000
