"""A caller's run of the questions, saved after each one, and read again by `evaluate` and `report`."""

import sqlite3
from collections.abc import Callable
from typing import Any, cast

from src.base import shell
from src.base.errors import CheckFailed, Interrupted, Precondition, ServerUnavailable, interruption
from src.base.paths import OUTPUTS
from src.base.records import Question
from src.going_further import flow
from src.going_further.callers import NOBODY, Caller
from src.going_further.decisions import DecisionLog
from src.going_further.records import CallerRun
from src.runs import provenance, store
from src.runs.outputs import Outputs
from src.server.reply import TransportFailure
from src.tools import digest


def again(folder: Outputs, caller: str = "shop-north") -> str:
    """How to run it, once more or at last; `folder` is that of this package's results."""
    named = [] if folder.folder.parent == OUTPUTS else ["--outputs", str(folder.folder.parent)]
    embedded = ["--embedded"] if folder.embedded else []
    asking = [] if caller == NOBODY.name else ["--caller", caller]
    words = ("-m", "src.going_further", *embedded, *named, "agent", *asking)
    database = folder._replace(folder=folder.folder.parent)
    first = "" if database.database.exists() else f"{database.command('prepare')} && "
    return f"run it with: {first}{shell.command(*words, asks_server=not folder.embedded)}"


def ask_all(
    db: sqlite3.Connection,
    questions: list[Question],
    caller: Caller,
    database: Outputs,
    folder: Outputs,
    say: Callable[[str], object],
) -> CallerRun:
    """Ask the questions in order and keep `agent.json` after each; returns its content.

    Raises `ServerUnavailable` or `Interrupted` with what is finished on the disk, `CheckFailed` for a changed database.
    """
    log = DecisionLog(folder.folder / "decisions.jsonl")
    record: CallerRun = {
        "provenance": provenance.program(),
        "caller": {
            "name": caller.name,
            "tools": sorted(caller.tools),
            "references": sorted(caller.references),
        },
        "digest_before": digest(database.database),
        "complete": False,
        "results": [],
    }
    path = folder.json("agent")
    if path.exists():  # so that a run that may be interrupted does not cost the results of the last one
        path.replace(path.with_name("agent.previous.json"))
    try:
        for question in questions:
            record["results"].append(flow.run(db, question, caller, log))
            store.write_json(path, record)
            say(f"{len(record['results'])}/{len(questions)}  {record['results'][-1]['decision'] or 'no decision'}")
    except TransportFailure as exc:
        raise ServerUnavailable(f"the model server failed: {exc}; {_kept(record, questions, folder)}") from None
    except KeyboardInterrupt as exc:
        raise Interrupted(f"{interruption(exc)}; {_kept(record, questions, folder)}") from exc
    after = digest(database.database)
    unchanged = after == record["digest_before"]
    record |= {"complete": True, "digest_after": after, "unchanged": unchanged}
    store.write_json(path, record)
    if not unchanged:
        raise CheckFailed(f"{database.database} changed during the run; see the two digests in {path}")
    return record


def _kept(record: CallerRun, questions: list[Question], folder: Outputs) -> str:
    kept = f"{len(record['results'])} of {len(questions)} results are kept"
    return f"{kept}; {again(folder, record['caller']['name'])}"


def load(folder: Outputs) -> CallerRun:
    """Return the last run; `Precondition` when there is none, or the file holds something else."""
    path = folder.json("agent")
    record: Any = store.read_json(path, again(folder))
    fields = {"id", "ref", "query", "decision", "trace", "answer", "error", "seconds"}
    try:
        whole = bool(record["results"]) and all(
            fields <= set(result) and all(type(step["observation"]) is dict for step in result["trace"])
            for result in record["results"]
        )
        whole = whole and type(record["caller"]["references"]) is list
    except (KeyError, TypeError):
        whole = False
    if not whole:
        raise Precondition(f"{path} does not hold a run of this command; {again(folder)}")
    return cast(CallerRun, record)
