"""What an interrupted run left: protected from a second run, resumed by `agent --resume`, or kept under another name.

The journal is read line by line: a line must match its checksum, and its result must be that of one of the questions.
"""

import itertools
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, cast

from src.base.errors import Precondition
from src.base.messages import LANGUAGES
from src.base.records import JsonObject, JsonValue, Language, Question, Result
from src.runs import datafile, runfile, store
from src.runs.differences import differing, listed
from src.runs.outputs import Outputs
from src.runs.records import DataFile
from src.runs.session import Run, Say


@contextmanager
def exclusive(outputs: Outputs, say: Say) -> Iterator[None]:
    """Hold the folder for one run at a time, from before its journal is read until its results are written.

    Raises `Precondition` when another run holds it.
    """
    with store.Journal(outputs.journal).exclusive(say):
        yield


class Left(NamedTuple):
    """What an interrupted run was asked, so that nobody has to repeat it."""

    identity: JsonObject  # all its conditions, as the journal has them
    data: Path | None  # the data file; `None` where the journal does not say, as of an earlier version
    language: Language
    guarded: bool
    jobs: int


def left(outputs: Outputs) -> Left:
    """Return what the interrupted run in this folder was asked; `Precondition` when there is none."""
    entries = store.Journal(outputs.journal).read(1)
    found = _identity(outputs, entries)
    path = entries[0].get("data_path") if isinstance(entries[0], dict) else None
    origin = cast(DataFile, found.get("data"))
    language, jobs = found.get("language"), found.get("jobs")
    return Left(
        found,
        datafile.found(outputs, origin, path) if isinstance(path, str) else None,
        next((known for known in LANGUAGES if known == language), "en"),
        found.get("guard_answers") is True,
        jobs if type(jobs) is int else 1,
    )


def _identity(outputs: Outputs, entries: Sequence[JsonValue]) -> JsonObject:
    """Return the conditions that a journal begins with; `Precondition` when it holds no run of ours."""
    journal = outputs.journal
    if not entries:
        raise Precondition(f"{journal} holds no interrupted run; start one with: {outputs.command('agent')}")
    header = entries[0]
    found = header.get("identity") if isinstance(header, dict) else None
    if not isinstance(found, dict) or "server" not in found:
        raise Precondition(
            f"{journal} is not a journal of this program; move it away and start anew: {outputs.command('agent')}"
        )
    return found


def resume(run: Run, say: Say) -> None:
    """Take over the finished results of an interrupted run under the same conditions.

    A question that failed in transport, or whose line in the journal is damaged, is asked again. Raises
    `Precondition` when there is nothing to resume or when anything differs that decides about an answer: two
    conditions are never mixed in one result.
    """
    journal = run.outputs.journal
    entries = store.Journal(journal).read()
    found = _identity(run.outputs, entries)
    different = differing(found, run.identity, list(run.identity))
    # A server may have gone for good: which of several equal ones answers decides about no text.
    if different := [each for each in different if each[0] != "server.replicas"]:
        raise Precondition(
            f"the interrupted run in {journal} was made under different conditions: "
            f"{listed(different)}; "
            f"bring that back and run this again, or start anew with: {run.outputs.command('agent')}"
        )
    run.results, damaged = _finished(entries[1:], run.questions)
    run.again = _failed(entries[1:], run.questions)
    run.kept = len(run.results)
    if damaged:
        say(f"{damaged} lines of {journal} are damaged and left out; their questions are asked again")
    say(f"resuming: {run.kept} results kept, {len(run.missing)} questions to ask")


def _finished(entries: Sequence[JsonValue], questions: Sequence[Question]) -> tuple[list[Result], int]:
    """Return the usable results of a journal, one for each question, and the number of damaged lines."""
    asked = {question["id"]: question for question in questions}
    finished: list[Result] = []
    damaged = 0
    for entry in entries:
        if isinstance(entry, dict) and entry.get("transport_failure") is True:
            continue
        result = entry.get("result") if isinstance(entry, dict) else None
        identifier = result.get("id") if isinstance(result, dict) else None
        question = asked.pop(identifier, None) if type(identifier) is int else None
        if question is not None and runfile.is_result_of(result, question):
            finished.append(result)
        else:
            damaged += 1
    return finished, damaged


def _failed(entries: Sequence[JsonValue], questions: Sequence[Question]) -> dict[int, str]:
    """Return the questions of a journal that failed in transport, with their errors: they are sent a second time."""
    results = [
        entry.get("result") for entry in entries if isinstance(entry, dict) and entry.get("transport_failure") is True
    ]
    asked = {question["id"]: question for question in questions}
    return {
        result["id"]: result["error"] or ""
        for result in results
        if isinstance(result, dict)
        and type(identifier := result.get("id")) is int
        and identifier in asked
        and runfile.is_result_of(result, asked[identifier])
    }


def set_aside(run: Run, say: Say) -> None:
    """Keep what an interrupted run left under another name before a new run takes its place."""
    journal = run.outputs.journal
    entries = store.Journal(journal).read()
    if len(entries) > 1 or entries == [None]:  # a header alone holds no result; a single damaged line may hold anything
        kept = _free_name(journal.with_name("agent.interrupted.jsonl"))
        journal.replace(kept)
        say(
            f"an interrupted run had {len(entries) - 1} results; they are kept in {kept} "
            "(agent --resume would have continued that run)"
        )


def _free_name(path: Path) -> Path:
    """Return `path`, or the first of `NAME-2`, `NAME-3`, ... that is free."""
    names = (path.with_stem(f"{path.stem}-{number}") for number in itertools.count(2))
    return next(name for name in itertools.chain([path], names) if not os.path.lexists(name))
