"""`ask`: one question of your own, shown stage by stage, with the outcome as the exit status."""

from typing import cast

from src import agent
from src.base.errors import CheckFailed, Precondition, ServerUnavailable
from src.base.printable import is_question, say
from src.base.records import AskProvenance, Language, Result
from src.commands import show
from src.runs import conditions, database, provenance, store
from src.runs.outputs import Outputs
from src.server.reply import BadReply, TransportFailure
from src.wording import deliver


def check(question: str) -> None:
    """Raise `Precondition` for a question that is empty or not text, before a model is loaded for it."""
    if not is_question(question):
        raise Precondition(
            'the question is empty or not UTF-8 text; ask for example "What is the stock level for REF-000?"'
        )


def ask(outputs: Outputs, question: str, language: Language, guarded: bool) -> None:
    """Ask, print the stages and write `ask.json`; `guarded` adds the sentence that a customer would get.

    Raises `CheckFailed` when the proposal was refused, `ServerUnavailable` when the server failed.
    """
    made_under: AskProvenance = {**provenance.program(), **conditions.conditions(outputs, language, guarded, say)}
    failures: list[Exception] = []
    with database.opened(outputs) as db:
        result = cast(Result, agent.run(db, {"query": question}, failed=failures.append))
    if guarded:
        result["delivered"] = deliver.deliver(result, language)
    say(show.stages(result))
    say(str(store.write_json(outputs.json("ask"), {"provenance": made_under, "result": result})))
    for failure in failures:
        kind = ServerUnavailable if isinstance(failure, TransportFailure | BadReply) else CheckFailed
        raise kind(f"{'the model server failed' if kind is ServerUnavailable else 'refused'}: {failure}")
