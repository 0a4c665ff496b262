"""Everything that determines an answer, recorded with each result.

Prompts, schema and SELECT are recorded as they are; the code that matters is recorded as a digest of its files, so that
an edit shows even where no constant changed.
"""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from src import agent, tools
from src.base.paths import ROOT
from src.base.records import Language
from src.runs import replicas
from src.runs.outputs import Outputs
from src.runs.records import Conditions
from src.server import client, readiness

SRC = ROOT / "src"
# What turns a question into an answer: the flow, the gate, and what may be taken from a reply.
DECIDING = (SRC / "agent.py", SRC / "tools.py", SRC / "server" / "reply.py", ROOT / "configs" / "reply.schema.json")
WORDING = (SRC / "wording", ROOT / "data" / "wording")  # the checks of a guarded sentence, and their vocabularies


def conditions(outputs: Outputs, language: Language, guarded: bool, say: Callable[[str], object]) -> Conditions:
    """Wait for the server and return everything that determines the text of an answer.

    Raises `ServerUnavailable`, or `Precondition` where its replicas differ.
    """
    server = client.current()
    readiness.wait_ready(server, say)
    return {
        "server": replicas.survey(server),
        "prompts": {"choose": agent.CHOOSE, "word": agent.WORD},
        "schema": agent.SCHEMA,
        "generation": server.accepted(agent.GENERATION),
        "read": tools.READ,
        "code": _digest(DECIDING),
        "language": language,
        "database": tools.digest(outputs.database),
        "guard_answers": guarded,
        "wording": _digest(path for folder in WORDING for path in folder.glob("*.*")) if guarded else None,
    }


def _digest(files: Iterable[Path]) -> str:
    """One SHA-256 over the names and bytes of files."""
    made = hashlib.sha256()
    for path in sorted(files):
        made.update(f"{path.name} {path.stat().st_size}\n".encode())
        made.update(path.read_bytes())
    return made.hexdigest()
