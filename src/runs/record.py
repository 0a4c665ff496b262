"""`agent.json`: the record of a run, written in the order of its questions, and what makes it incomplete.

A run is complete when every question has a result and one model gave them all. An incomplete run
never replaces a complete one, which is kept as `agent.previous.json`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from src.base.errors import CheckFailed, Precondition
from src.base.records import Question, Result
from src.runs import provenance, store
from src.runs.outputs import Outputs
from src.runs.records import Digest, Identity, Integrity, Run, Server
from src.tools import digest
from src.weights.models import pinned_as

NAMED: Final = ("model", "build")  # what each reply names of its server


def write(
    outputs: Outputs,
    identity: Identity,
    questions: list[Question],
    results: list[Result],
    kept: int,
    again: Mapping[int, str],
) -> Run:
    """Write `agent.json` and return its content; `kept` of the results come from an earlier session.

    `again` holds the questions that were sent a second time, by id, with the error of the first.

    A run whose replies name two models or builds says so under `mixed` and is not complete.
    """
    path = outputs.json("agent")
    order = {question["id"]: place for place, question in enumerate(questions)}
    mixed = several(results)
    complete = len(results) == len(questions) and not mixed
    if not complete and path.exists() and not _is_incomplete(path):
        path.replace(path.with_name("agent.previous.json"))
    after = _digest_now(outputs)
    made: Run = {
        "provenance": {
            **provenance.program(),
            **identity,
            "server": told_by_replies(identity["server"], results),
            "tokens_from_cache": provenance.tokens_from_cache(results),
        },
        "complete": complete,
        "resumed": bool(kept),
        "kept": kept,
        "digest_before": identity["database"],
        "digest_after": after,
        "unchanged": after == identity["database"],
        "results": sorted(results, key=lambda result: order[result["id"]]),
    }
    if again:
        made["asked_again"] = [{"id": identifier, "error": again[identifier]} for identifier in sorted(again)]
    if mixed:
        made["mixed"] = mixed
    store.write_json(path, made)
    return made


def check(made: Integrity, outputs: Outputs) -> None:
    """Raise `CheckFailed` unless a run, or what was measured on it, is of one unchanged database and one model."""
    path = outputs.json("agent")
    if not made["unchanged"]:
        raise CheckFailed(f"{outputs.database} changed during the run; see the two digests in {path}")
    for what, names in made.get("mixed", {}).items():
        raise CheckFailed(
            f"the model server changed during the run: its replies name two of {what}, {' and '.join(names[:2])}; "
            f"{path} says so and is no complete run; start a new run with: {outputs.command('agent')}"
        )


def several(results: list[Result]) -> dict[str, list[str]]:
    """Return the models, and the builds, that the replies name where they are several, e.g. `{"model": ["A", "B"]}`."""
    return {key: sorted(found) for key in NAMED if len(found := _named(results, key)) > 1}


def told_by_replies(server: Server, results: list[Result]) -> Server:
    """Return what is known of the server, its model as the replies name it: they win over a listing.

    If they only repeat the name that was asked for, they say nothing new.
    """
    named = _named(results, "model")
    if len(named) != 1 or named <= {server["model"], server["requested"]}:
        return server
    (model,) = named
    files: list[Digest] = [{"name": file.name, "sha256": file.sha256} for file in pinned_as(model)]
    return {**server, "model": model, "files": files, "listed": server["model"]}


def _named(results: list[Result], key: Literal["model", "build"]) -> set[str]:
    replies = [reply for result in results for reply in (result["proposal"], result["answer"]) if reply]
    return {str(reply[key]) for reply in replies if key in reply}


def _digest_now(outputs: Outputs) -> str | None:
    try:
        return digest(outputs.database)
    except FileNotFoundError:
        return None


def _is_incomplete(path: Path) -> bool:
    """Whether this is an incomplete run of ours, which a later state of the same run may replace."""
    try:
        found = store.read_json(path, "it is replaced")
    except Precondition:
        return False
    return isinstance(found, dict) and found.get("complete") is False
