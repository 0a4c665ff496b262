"""Everything that determines an answer, recorded with each result, and how two sets of conditions differ.

Prompts, schema and SELECT are recorded as they are; the code that matters is recorded as a digest of its files, so that
an edit shows even where no constant changed.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from src import agent, tools
from src.base.errors import ServerUnavailable
from src.base.paths import ROOT
from src.base.printable import dumps
from src.base.records import Conditions, Language
from src.runs import provenance
from src.runs.outputs import Outputs
from src.server import client, readiness
from src.server.reply import BadReply, TransportFailure

SRC = ROOT / "src"
# What turns a question into an answer: the flow, the gate, and what may be taken from a reply.
DECIDING = (SRC / "agent.py", SRC / "tools.py", SRC / "server" / "reply.py", ROOT / "configs" / "reply.schema.json")
WORDING = (SRC / "wording", ROOT / "data" / "wording")  # the checks of a guarded sentence, and their vocabularies
SHOWN = 80  # characters of a value in a line about a difference
BEFORE = 20  # of them before the place where two long values diverge


def conditions(outputs: Outputs, language: Language, guarded: bool, say: Callable[[str], object]) -> Conditions:
    """Wait for the server and return everything that determines the text of an answer.

    Raises `ServerUnavailable`.
    """
    server = client.current()
    readiness.wait_ready(server, say)
    try:
        reported = provenance.server(server)
    except (TransportFailure, BadReply) as exc:
        raise ServerUnavailable(f"model server {server.config.base_url}: {exc}; see its log") from None
    return {
        "server": reported,
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


def differing(
    there: Mapping[str, object], here: Mapping[str, object], names: Sequence[str]
) -> list[tuple[str, object, object]]:
    """Return what differs among these conditions, e.g. `("server.slots", 1, 4)`; a missing one counts as None."""
    found: list[tuple[str, object, object]] = []
    for name in names:
        theirs, ours = there.get(name), here.get(name)
        if isinstance(theirs, dict) and isinstance(ours, dict):
            inner = differing(theirs, ours, sorted({*theirs, *ours}))
            found += [(f"{name}.{key}", then, now) for key, then, now in inner]
        elif theirs != ours:
            found.append((name, theirs, ours))
    return found


def in_words(name: str, there: object, here: object) -> str:
    """Say one difference in a few words: `server.slots: 1 there, 4 here`; long values from where they diverge."""
    then, now = dumps(there), dumps(here)
    if max(len(then), len(now)) > SHOWN:
        same = next((place for place, (a, b) in enumerate(zip(then, now, strict=False)) if a != b), 0)
        then, now = (_from(text, same) for text in (then, now))
    return f"{name}: {then} there, {now} here"


def _from(text: str, same: int) -> str:
    start = max(0, same - BEFORE)
    return f"{'…' * (start > 0)}{text[start : start + SHOWN]}{'…' * (start + SHOWN < len(text))}"
