"""`agent`: all questions of a data file, in order, each result saved as it arrives.

A finished question is one line of the journal, forced to disk; `agent.json` is written when the run ends, complete or
not. Three transport failures in a row, beyond what was in flight, mean that the server is down. The database digest
before and after must agree.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from src.base import exits
from src.base.errors import Interrupted, Precondition, ServerUnavailable, interruption
from src.base.records import Language, Question, Result
from src.runs import catalog, conditions, datafile, jobs, provenance, record, store
from src.runs.outputs import Outputs
from src.runs.records import Identity, JournalEntry, JournalHeader, Server
from src.server.failures import TOO_SLOW, Ours
from src.wording import deliver

GIVE_UP_AFTER = 3  # transport failures in a row: one may be chance, three mean that the server is down

Say = Callable[[str], object]


@dataclass
class Run:
    """One run of the agent: what is asked under which conditions, and its results so far."""

    outputs: Outputs
    identity: Identity
    questions: list[Question]
    data: str = ""  # path of the data file, as the folder of results keeps it
    finish: str = ""  # the command that finishes the run
    results: list[Result] = field(default_factory=list)
    kept: int = 0
    lost: set[int] = field(default_factory=set)  # ids that failed in transport: --resume asks them again
    again: dict[int, str] = field(default_factory=dict)  # ids that are asked a second time, and the first error

    @property
    def missing(self) -> list[Question]:
        """The questions that have no result yet."""
        done = {result["id"] for result in self.results}
        return [question for question in self.questions if question["id"] not in done]


def begin(
    outputs: Outputs, data: Path, language: Language, say: Say, *, guarded: bool = False, in_flight: int = 1
) -> Run:
    """Check what a run needs (data, server) and return it, not yet started; the database is checked by then.

    `guarded` adds the delivered sentence to each result; `in_flight` questions are asked at a time.
    Raises `Precondition` or `ServerUnavailable`.
    """
    questions = catalog.questions(catalog.load(data), language)
    identity: Identity = {
        **provenance.machine(),
        **conditions.conditions(outputs, language, guarded, say),
        "data": catalog.origin(data),
        "jobs": in_flight,
    }
    if (waiting := _waiting(identity["server"], in_flight)) is not None:
        say(waiting)
    return Run(outputs, identity, questions, datafile.beside(outputs, data), outputs.command("agent", "--resume"))


def _waiting(server: Server, in_flight: int) -> str | None:
    """Say how many questions in flight find no free slot, `None` where each finds one or the server does not tell."""
    slots, replicas = server["slots"], server.get("replicas", 1)
    if slots is None or (left := in_flight - slots * replicas) <= 0:
        return None
    has = "1 slot" if slots == 1 else f"{slots} slots"
    who = f"the {replicas} servers have {has} each" if replicas > 1 else f"the server has {has}"
    return f"{who}; the other {left} of {in_flight} questions in flight will wait"


def work(run: Run, progress: Callable[[Result], object]) -> Path:
    """Ask the questions that have no result yet and write `agent.json`; returns its path.

    Raises `ServerUnavailable` when the server is down and `CheckFailed` when the database or the model changed, after
    writing. Anything else that ends the run early, Ctrl-C included, leaves `agent.json` with the finished results,
    marked incomplete; on a full disk only the journal has them.
    """
    path = run.outputs.json("agent")
    header: JournalHeader = {"identity": run.identity, "data_path": run.data}
    entries = [header, *(_entry(result, transport=False) for result in run.results)]
    try:
        with store.Journal(run.outputs.journal).writing(entries) as journal:
            try:
                _ask_all(run, journal, progress)
            finally:
                made = record.write(run.outputs, run.identity, run.questions, run.results, run.kept, run.again)
    except Ours as exc:
        raise Ours(f"{exc}; {_kept(run)}") from exc
    except KeyboardInterrupt as exc:
        raise Interrupted(f"{interruption(exc)}; {_kept(run)}") from exc
    except BrokenPipeError as exc:
        raise Interrupted(f"interrupted by a reader that closed the output; {_kept(run)}") from exc
    except OSError as exc:
        helps = exits.advice(exc).removesuffix(exits.AGAIN)
        raise Precondition(f"{exc.strerror or exc}: the results cannot be written; {helps}; {_on_disk(run)}") from exc
    if not run.missing and not run.lost:  # with the journal, --resume asks the questions that were lost in transport
        run.outputs.journal.unlink()
    record.check(made, run.outputs)
    return path


def _on_disk(run: Run) -> str:
    """The same where nothing may be on the disk, since it refused even the first line of the journal."""
    return _kept(run) if run.outputs.journal.exists() else "nothing was asked yet: give the same command again"


def _kept(run: Run) -> str:
    """How many results there are, and the command that finishes the run; the journal has its conditions."""
    kept = len(run.results) - len(run.lost)
    return f"{kept} of {len(run.questions)} results are kept, finish with: {run.finish}"


def _ask_all(run: Run, journal: store.Journal, progress: Callable[[Result], object]) -> None:
    """Ask what has no result, then once more what failed in transport, if several are asked at a time.

    Of many questions in flight a server that ends takes several along, and others are still there to answer them.
    One question at a time is R3's way, without a second attempt.
    """
    _ask_each(run, journal, run.missing, progress)
    if run.identity["jobs"] > 1 and run.lost:
        repeated = [question for question in run.questions if question["id"] in run.lost]
        run.again |= {result["id"]: result["error"] or "" for result in run.results if result["id"] in run.lost}
        _ask_each(run, journal, repeated, lambda _: None)


def _ask_each(
    run: Run, journal: store.Journal, questions: list[Question], progress: Callable[[Result], object]
) -> None:
    in_flight, failures = run.identity["jobs"], 0
    # One server of several may take along all that is in flight; failures beyond that are no chance.
    gone = max(GIVE_UP_AFTER, min(in_flight - 1 + GIVE_UP_AFTER, len(questions)))
    with contextlib.closing(jobs.answered(run.outputs, questions, in_flight)) as answered:
        for result, transport in answered:
            if run.identity["guard_answers"]:
                result["delivered"] = deliver.deliver(result, run.identity["language"])
            journal.append(_entry(result, transport))
            _take(run, result, transport)
            progress(result)
            failures = failures + 1 if transport else 0
            if failures == gone:
                _withdraw(run, failures)
                raise ServerUnavailable(
                    f"the model server is gone ({failures} transport failures in a row: {result['error']}); "
                    f"{_again(run, result)}; {_kept(run)}"
                )


def _again(run: Run, last: Result) -> str:
    """What to do before the run is finished."""
    if (last["error"] or "").startswith(TOO_SLOW):
        return "if it is only slow, raise LLM_TIMEOUT_S; else see its log"
    return "it is started anew with the run" if run.outputs.embedded else "start it again"


def _take(run: Run, result: Result, transport: bool) -> None:
    """Add a result, in place of an earlier one of the same question."""
    if result["id"] in run.lost:
        run.results = [other for other in run.results if other["id"] != result["id"]]
    run.results.append(result)
    (run.lost.add if transport else run.lost.discard)(result["id"])


def _withdraw(run: Run, failures: int) -> None:
    """Take the last results back: with no server to answer them, these questions have not been asked."""
    for result in run.results[-failures:]:
        run.lost.discard(result["id"])
    del run.results[-failures:]


def _entry(result: Result, transport: bool) -> JournalEntry:
    return {"result": result, "transport_failure": transport}
