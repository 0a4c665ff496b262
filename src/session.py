"""`agent`: all questions of a data file, in order, each result kept as it comes.

A finished question is one line of the journal, forced to disk; `agent.json` is written when the run ends, complete or
not. Three transport failures in a row mean that the server is gone. The database digest before and after must agree.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from src import agent, catalog, client, guard, jobs, provenance, store
from src.client import TransportFailure
from src.errors import CheckFailed, Precondition, ServerUnavailable
from src.outputs import Outputs
from src.reply import BadReply
from src.tools import digest

GIVE_UP_AFTER = 3  # transport failures in a row (SPEC section 9)
START = "start one with: python -m src.cli agent"

Say = Callable[[str], object]


@dataclass
class Run:
    """One run of the agent: what is asked under which conditions, and what has come of it so far."""

    outputs: Outputs
    identity: dict[str, Any]
    questions: list[dict[str, Any]]
    results: list[dict[str, Any]] = field(default_factory=list)
    kept: int = 0

    @property
    def missing(self) -> list[dict[str, Any]]:
        """The questions that have no result yet."""
        done = {result["id"] for result in self.results}
        return [question for question in self.questions if question["id"] not in done]


def begin(outputs: Outputs, data: Path, language: str, say: Say, *, guarded: bool = False, in_flight: int = 1) -> Run:
    """Check what a run needs (data, database, server) and return it, not yet started.

    `guarded` adds the delivered sentence to each result; `in_flight` questions are asked at a time.
    Raises `Precondition` or `ServerUnavailable`.
    """
    questions = catalog.questions(catalog.load(data), language)
    outputs.open_database().close()
    server = client.current()
    client.wait_ready(server, say)
    try:
        reported = provenance.server(server)
    except (TransportFailure, BadReply) as exc:
        raise ServerUnavailable(f"model server {server.config.base_url}: {exc}; see its log") from None
    identity = {
        "server": reported,
        "generation": agent.GENERATION,
        "language": language,
        "data": catalog.origin(data),
        "database": digest(outputs.database),
        "guard_answers": guarded,
        "jobs": in_flight,
    }
    if (slots := reported["slots"]) is not None and slots < in_flight:
        say(f"the server answers {slots} at a time: of {in_flight} questions in flight the others wait for it")
    return Run(outputs, identity, questions)


def resume(run: Run) -> None:
    """Take over the finished results of an interrupted run under the same conditions.

    A question that failed in transport counts as not asked. Raises `Precondition` when there is nothing to resume or
    when model, settings, language, data or database differ: two of them are never mixed in one result.
    """
    journal = run.outputs.journal
    entries = store.Journal(journal).read()
    if not entries:
        raise Precondition(f"{journal} holds no interrupted run; {START}")
    try:
        found = entries[0]["identity"]
        finished = [entry["result"] for entry in entries[1:] if not entry["transport_failure"]]
        differing = [name for name in run.identity if found[name] != run.identity[name]]
    except (KeyError, TypeError):
        raise Precondition(f"{journal} is not a journal of this program; move it away and {START}") from None
    if differing:
        raise Precondition(
            f"the interrupted run in {journal} was made with another {' and another '.join(differing)}; "
            "finish it under its own conditions, or start anew without --resume"
        )
    run.results, run.kept = finished, len(finished)


def set_aside(run: Run, say: Say) -> None:
    """Keep the results of an interrupted run under another name before a new run takes its place."""
    journal = run.outputs.journal
    if finished := len(store.Journal(journal).read()[1:]):
        kept = journal.with_name("agent.interrupted.jsonl")
        journal.replace(kept)
        say(
            f"an interrupted run had {finished} results; they are kept in {kept} (agent --resume would go on with them)"
        )


def work(run: Run, progress: Callable[[dict[str, Any]], object]) -> Path:
    """Ask the questions that have no result yet and write `agent.json`; returns its path.

    Raises `ServerUnavailable` when the server is gone and `CheckFailed` when the database changed, after writing.
    Whatever else ends the run early, Ctrl-C included, leaves `agent.json` with what was finished, marked incomplete.
    """
    entries = [{"identity": run.identity}, *(_entry(result, transport=False) for result in run.results)]
    failures = 0
    asking = contextlib.closing(jobs.answered(run.outputs, run.missing, run.identity["jobs"]))
    with store.Journal(run.outputs.journal).writing(entries) as journal, asking as answered:
        try:
            for result, transport in answered:
                if run.identity["guard_answers"]:
                    result["delivered"] = guard.deliver(result, run.identity["language"])
                journal.append(_entry(result, transport))
                run.results.append(result)
                progress(result)
                failures = failures + 1 if transport else 0
                if failures == GIVE_UP_AFTER:
                    raise ServerUnavailable(
                        f"the model server is gone ({failures} transport failures in a row: {result['error']}); "
                        f"{len(run.results) - failures} of {len(run.questions)} results are kept, "
                        "start the server and finish with: python -m src.cli agent --resume"
                    )
        except KeyboardInterrupt as exc:
            raise KeyboardInterrupt(
                f"{exc.args[0] if exc.args else ''}; {len(run.results)} of {len(run.questions)} results are kept, "
                "finish with: python -m src.cli agent --resume"
            ) from exc
        finally:
            path = _write(run)
    if not run.missing:
        run.outputs.journal.unlink()
    if digest(run.outputs.database) != run.identity["database"]:
        raise CheckFailed(f"{run.outputs.database} changed during the run; see the two digests in {path}")
    return path


def _entry(result: dict[str, Any], transport: bool) -> dict[str, Any]:
    return {"result": result, "transport_failure": transport}


def _write(run: Run) -> Path:
    """Write `agent.json` in the order of the questions; an incomplete one never takes the place of a complete one."""
    path = run.outputs.json("agent")
    order = {question["id"]: place for place, question in enumerate(run.questions)}
    complete = not run.missing
    if not complete and path.exists() and store.read_json(path, START).get("complete"):
        path.replace(path.with_name("agent.previous.json"))
    after = digest(run.outputs.database)
    return store.write_json(
        path,
        {
            "provenance": {
                **provenance.program(),
                **run.identity,
                "tokens_from_cache": provenance.tokens_from_cache(run.results),
            },
            "complete": complete,
            "resumed": bool(run.kept),
            "kept": run.kept,
            "digest_before": run.identity["database"],
            "digest_after": after,
            "unchanged": after == run.identity["database"],
            "results": sorted(run.results, key=lambda result: order[result["id"]]),
        },
    )
