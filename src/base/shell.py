"""Commands for a person to paste: this program as it was started, in the shell that it was started from.

An environment that is not active, a script that changed the folder, and a container each need other words. Standard
library only.
"""

import os
import shutil
import sys
from pathlib import Path

from src.base.paths import ROOT, near
from src.base.printable import quoted

# What a person types to start this interpreter, where only the caller knows: compose.yaml, and quickstart.sh when it
# was started from another folder.
TYPED = "R3_PYTHON"
# What names the server: a person may have set it for the one command only, `R3_EMBEDDED=0` against an exported 1.
SERVER = ("R3_EMBEDDED", "LLM_BASE_URL", "LLM_MODEL")
QUICKSTART = f"sh {quoted(str(near(ROOT / 'scripts' / 'quickstart.sh')))}"


def python() -> str:
    """Return the words that start this interpreter, e.g. `python` where its environment is active."""
    if typed := os.environ.get(TYPED):
        return typed
    here = Path(sys.executable or "python")
    for name in ("python", "python3"):
        found = Path(shutil.which(name) or "").absolute()
        # Subtle: an environment's interpreter is a link to the system's; the folder tells the two apart.
        if found.parent == here.parent and found.samefile(here):
            return name
    return quoted(str(near(here)))


def command(*words: str, asks_server: bool = False) -> str:
    """Return `python` and its arguments, quoted; `asks_server` adds the variables that name a model server.

    The key of a server is never repeated.
    """
    named = [f"{name}={quoted(os.environ[name])}" for name in SERVER if asks_server and os.environ.get(name)]
    if os.environ.get(TYPED):  # the variables are set there, and must stand behind a `cd`
        named = []
    return " ".join([*named, python(), *map(quoted, words)])


def package(lock: str) -> str:
    """Say how to come by a package that this Python lacks, and that a file of configs/ has.

    The project's environment may have it, and this Python be another.
    """
    environment = ROOT / ".venv"
    activate = environment / "bin" / "activate"
    if activate.exists() and Path(sys.prefix).resolve() != environment.resolve():
        return f"activate the project's environment: . {quoted(str(near(activate)))}"
    if sys.prefix == sys.base_prefix:  # the system's own, which is better left alone
        return f"{QUICKSTART} makes an environment that has it"
    words = ("-m", "pip", "install", "--require-hashes", "-r", str(near(ROOT / "configs" / lock)))
    return f"install it with: {command(*words)}"
