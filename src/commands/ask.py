"""`ask`: one question of your own, shown stage by stage, with the outcome as the exit status."""

from typing import cast

from src import agent
from src.base import layout, messages
from src.base.errors import CheckFailed, Precondition, ServerUnavailable
from src.base.printable import is_question, note, say
from src.base.records import Language, Result
from src.commands import stages
from src.commands.written import Written
from src.runs import conditions, database, provenance, store
from src.runs.outputs import Outputs
from src.runs.records import AskProvenance
from src.runs.results import observed
from src.server.reply import BadReply, TransportFailure
from src.wording import asked, deliver


def check(question: str) -> None:
    """Raise `Precondition` for a question that is empty or not text, before a model is loaded for it."""
    if not is_question(question):
        raise Precondition(
            'the question is empty or not UTF-8 text; ask for example "What is the stock level for REF-000?"'
        )


def difference(result: Result, language: Language) -> str | None:
    """Say where the question and the proposal part, in the reader's language; `None` where they do not.

    The gate cannot know it: REF-121 has the right form, whatever was asked.
    """
    _ = messages.translator(language).gettext
    ref = result["trace"][0]["call"]["arguments"]["ref"] if result["trace"] else ""
    kind = asked.mismatch(result["query"], ref, observed(result))
    words: dict[str | None, str] = {
        "no_reference": _("your question names no {form} reference; the model proposed {ref}"),
        "malformed": _("you wrote {written}, the model proposed {ref}"),
        "another": _("you wrote {written}, the model proposed {ref}"),
        "several": _("your question names {written}; a call reads one of them: {ref}"),
    }
    if not ref:
        words = {
            "no_reference": _("your question names no {form} reference"),
            "malformed": _("you wrote {written}; a reference has the form {form}"),
        }
    found = words.get(kind)
    return found and found.format(form=asked.form(), ref=ref, written=asked.written(result["query"]))


def ask(outputs: Outputs, question: str, language: Language, guarded: bool, written: Written) -> None:
    """Ask, print the stages and write `ask.json`, or `ask-002.json` and so on: no record is lost to the next one.

    `guarded` adds the sentence that a customer would get; `written` is told the file and its content.
    Raises `CheckFailed` when the proposal was refused, `ServerUnavailable` when the server failed.
    """
    made_under: AskProvenance = {**provenance.program(), **conditions.conditions(outputs, language, guarded, note)}
    result, failure = shown(outputs, question, language, guarded)
    record = {"provenance": made_under, "result": result}
    written(store.write_next(outputs.json("ask"), record), record)
    if failure is not None:
        kind = ServerUnavailable if isinstance(failure, TransportFailure | BadReply) else CheckFailed
        raise kind(f"{'the model server failed' if kind is ServerUnavailable else 'refused'}: {failure}")


def shown(outputs: Outputs, question: str, language: Language, guarded: bool) -> tuple[Result, Exception | None]:
    """Ask one question and print its stages as each becomes known; returns the result, and what ended it early."""
    failures: list[Exception] = []
    with database.opened(outputs) as db:
        view = stages.Stages(db, question, language)

        def told(stage: agent.Told) -> None:
            view(stage)
            if isinstance(stage, Exception):
                failures.append(stage)

        result = cast(Result, agent.run(db, {"query": question}, told=told))
    if guarded:
        result["delivered"] = deliver.deliver(result, language)
    view.end(result)
    if (noted := difference(result, language)) is not None:
        say(layout.wrapped(noted, "  "))
    return result, failures[0] if failures else None
