"""Where the program is started in unusual surroundings it works, or says in one line what is wrong and what helps.

Run alone: python -m pytest tests/cli/test_surroundings.py
"""

import ast
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from src.base import shell
from src.server import readiness
from src.server.settings import BASE_URL
from tests.support.command import ROOT, environment

# An older interpreter is not on every machine: this one says that it is one, and everything else is as it was. That
# the two files can be read by an old one is looked at by `ast`. Seen on Python 3.9.2 (Debian 11) as well.
OLD = (
    "import runpy, sys; sys.version_info = (3, 9, 2, 'final', 0); sys.version = '3.9.2 (old)'; "
    "sys.argv = [{module!r}, 'prepare']; runpy.run_module({module!r}, run_name='__main__')"
)


def python(*words: str, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    """Run this interpreter."""
    return subprocess.run(
        [sys.executable, *words], cwd=cwd, env=environment(**env), capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("module", ["src.cli", "src.run_sql", "src.going_further", "src.server.embedded_server"])
def test_an_interpreter_that_is_too_old_is_told_in_one_line_what_to_use(module: str) -> None:
    done = python("-c", OLD.format(module=module))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"Python 3.11 or newer is needed, and {sys.executable} is 3.9.2; ")
    remedy = done.stderr.rstrip("\n").rpartition("; ")[2]
    if (ROOT / ".venv").exists():
        activated = subprocess.run(
            ["sh", "-c", f"{remedy.rpartition('environment: ')[2]} && python -m {module} --help"],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
        )
        assert activated.returncode == 0, activated.stderr
    else:
        assert "sh scripts/quickstart.sh" in remedy


@pytest.mark.parametrize("file", ["src/__init__.py", "scripts/fetch_model.py"])
def test_an_old_interpreter_can_read_what_it_comes_to_first(file: str) -> None:
    ast.parse((ROOT / file).read_text(encoding="utf-8"), feature_version=(3, 7))


def test_the_program_works_where_the_current_folder_was_deleted(tmp_path: Path) -> None:
    gone = "mkdir gone && cd gone && rmdir ../gone && "
    for words, status, says in (
        (f"--outputs {tmp_path}/out prepare", 0, "database built"),
        (f"--outputs {tmp_path}/out exercise", 0, "exercise.json"),
        ("--outputs out prepare", 2, "the current folder was deleted: change into one that is there (cd)"),
    ):
        line = f"{gone}exec {shlex.quote(sys.executable)} -m src.cli {words}"
        done = subprocess.run(
            ["sh", "-c", line], env=environment(PYTHONPATH=str(ROOT)), cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == status and says in done.stdout + done.stderr, done.stderr
        assert done.stderr.count("\n") == (status > 0)


@pytest.mark.model
def test_without_a_home_and_with_a_safe_path_the_embedded_server_answers(tmp_path: Path) -> None:
    env: Mapping[str, str] = {"PATH": os.environ["PATH"], "PYTHONSAFEPATH": "1", "PYTHONPATH": str(ROOT)}
    for words in (["prepare"], ["--embedded", "ask", "How many of REF-012?"]):
        done = subprocess.run(
            [sys.executable, "-m", "src.cli", "--outputs", str(tmp_path), *words],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "ask.json").read_text(encoding="utf-8"))["result"]["error"] is None


TYPED = [
    ({"PATH": "BIN:/usr/bin"}, "python"),
    ({"PATH": "/usr/bin"}, "HERE"),
    ({"PATH": "/usr/bin", "R3_PYTHON": "cd '/x y' && .venv/bin/python"}, "cd '/x y' && .venv/bin/python"),
]


@pytest.mark.parametrize(("env", "typed"), TYPED, ids=["active", "not active", "as the caller says"])
def test_a_command_names_the_python_as_this_shell_finds_it(
    env: dict[str, str], typed: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in env.items():
        monkeypatch.setenv(name, value.replace("BIN", str(Path(sys.executable).parent)))
    words = shell.command("-m", "src.cli", "agent", asks_server=True)
    assert words == f"{typed.replace('HERE', sys.executable)} -m src.cli agent"


def test_a_command_that_asks_a_server_names_it_and_never_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("LLM_BASE_URL", "http://a b"), ("LLM_MODEL", "m"), ("LLM_API_KEY", "secret")):
        monkeypatch.setenv(name, value)
    assert shell.command("x", asks_server=True).startswith("LLM_BASE_URL='http://a b' LLM_MODEL=m ")
    assert "secret" not in shell.command("x", asks_server=True) and "LLM_" not in shell.command("x")


HOW = [
    (BASE_URL, True, "", "add --embedded, or once: export R3_EMBEDDED=1"),
    ("http://127.0.0.1:1", True, "", "add --embedded, or once: export R3_EMBEDDED=1"),
    (BASE_URL, False, "", "set LLM_BASE_URL to a server of yours; sh scripts/quickstart.sh brings"),
    ("http://127.0.0.1:1", False, "", "start the server there, or look at LLM_BASE_URL; sh scripts/quickstart.sh"),
    (
        BASE_URL,
        True,
        "docker compose run --rm --no-deps app",
        "start it with: docker compose up -d server (or server-cpu)",
    ),
    ("http://a:1", True, "docker compose run --rm --no-deps app", "start the server there, or look at LLM_BASE_URL"),
]


@pytest.mark.parametrize(("url", "here", "typed", "says"), HOW)
def test_a_missing_server_is_answered_with_what_is_on_this_machine_first(
    url: str, here: bool, typed: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("R3_PYTHON", typed)
    monkeypatch.setattr(readiness, "embedded_is_here", lambda: here)
    assert readiness.start(url).startswith(says)


@pytest.mark.model
def test_what_a_forgotten_embedded_is_answered_with_works(tmp_path: Path) -> None:
    out = ["-m", "src.cli", "--outputs", str(tmp_path)]
    assert python(*out, "prepare").returncode == 0
    done = python(*out, "ask", "REF-012?", LLM_BASE_URL="http://127.0.0.1:1", LLM_WAIT_S="0.1")
    assert done.returncode == 3 and "; add --embedded, or once: export R3_EMBEDDED=1 " in done.stderr
    assert python(*out, "ask", "REF-012?", R3_EMBEDDED="1").returncode == 0
