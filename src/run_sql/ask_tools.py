"""`ask --tools`: the tool-call interface of a chat completion, once through: call, result, sentence.

The model is shown the tool and asked for a call; run_sql decides; the answer goes back as the tool's result, and the
model words it. A call is checked here whatever the server promises. llama.cpp does not enforce `tool_choice: required`
(ggml-org/llama.cpp#27217), so a model that writes something else is asked once more under the tool's schema, as `ask`
does; the message that results says so by its `id`.
"""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from src.agent import GENERATION
from src.base.errors import ServerUnavailable
from src.base.printable import dumps
from src.base.records import JsonObject
from src.run_sql import shapes
from src.run_sql.ask import MAX_ATTEMPTS, MAX_TOKENS, Attempt, generate, query_in, query_of, system_prompt, user_prompt
from src.run_sql.contract import run_sql_tool
from src.run_sql.records import Answer
from src.run_sql.tool import run_sql
from src.server.client import current
from src.server.records import Sampling
from src.server.reply import BadReply, TransportFailure, decode

BY_SCHEMA = "by_schema"  # the id of a call that the model wrote as JSON under the tool's schema, not as a call

Show = Callable[[JsonObject], object]


@dataclass(frozen=True)
class Ended:
    """What became of a question: run_sql's last answer, how many calls there were, and the model's sentence if any."""

    answer: Answer
    calls: int
    sentence: str | None


def turn(messages: list[JsonObject], choice: str) -> JsonObject:
    """Return the model's next message. Raises ServerUnavailable, or ValueError for a reply that holds none."""
    client = current()
    sampling: Sampling = {**GENERATION, "max_tokens": MAX_TOKENS}
    body: dict[str, object] = {
        "model": client.config.model,
        "messages": messages,
        "tools": [shapes.openai(run_sql_tool)],
        "tool_choice": choice,
    }
    try:
        body.update(client.accepted(sampling))
        reply = decode(client.complete(body).decode("utf-8"))
    except TransportFailure as exc:
        raise ServerUnavailable(f"model server {client.config.base_url}: {exc}; see its log") from None
    except (BadReply, ValueError) as exc:
        raise ValueError(f"respuesta inservible: {exc}") from None
    match reply:
        case {"choices": [{"message": dict(message)}, *_]}:
            return message
    raise ValueError("respuesta inservible")


def calls_in(message: JsonObject) -> Iterator[JsonObject]:
    """Yield the calls of a message in the form in which they are sent back; what has another form is none."""
    found = message.get("tool_calls")
    for call in found if isinstance(found, list) else ():
        match call:
            case {"id": str(id_), "function": {"name": str(name), "arguments": str(arguments)}}:
                yield {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def proposed(messages: list[JsonObject], prompt: str, con: sqlite3.Connection) -> JsonObject:
    """Return the model's call, its first where it wrote several; ValueError when it wrote none in either way.

    `prompt` is what a model is asked that answers the messages with something else than a call.
    """
    for call in calls_in(turn(messages, "required")):
        return call
    reply = generate(system_prompt(con), prompt)
    query_of(reply)
    return {
        "id": BY_SCHEMA,
        "type": "function",
        "function": {"name": run_sql_tool["name"], "arguments": reply["raw"]},
    }


def decided(call: JsonObject, con: sqlite3.Connection) -> Answer:
    """Return what run_sql makes of a call; any other tool is refused, and any other form of arguments."""
    match call:
        case {"function": {"name": "run_sql", "arguments": str(arguments)}}:
            try:
                return run_sql(query_in(arguments), con)
            except ValueError as fault:
                return {"ok": False, "error": str(fault)}
    return {"ok": False, "error": "la única herramienta es run_sql"}


def ask(question: str, con: sqlite3.Connection, show: Show) -> Ended:
    """Take a question through the loop; `show` is given each message as it is added.

    Raises ServerUnavailable when the server cannot be reached.
    """
    messages: list[JsonObject] = []

    def add(message: JsonObject) -> None:
        messages.append(message)
        show(message)

    add({"role": "system", "content": system_prompt(con)})
    add({"role": "user", "content": question})
    failed: list[Attempt] = []
    for number in range(1, MAX_ATTEMPTS + 1):
        raw, answer = "", Answer(ok=False)
        try:
            call = proposed(messages, user_prompt(question, failed), con)
        except ValueError as fault:
            answer["error"] = str(fault)
        else:
            add({"role": "assistant", "content": "", "tool_calls": [call]})
            raw, answer = dumps(call["function"]), decided(call, con)
            add({"role": "tool", "tool_call_id": call["id"], "content": dumps(answer)})
        if answer["ok"]:
            return Ended(answer, number, sentence(messages, add))
        failed.append(Attempt(number, raw, None, answer))
    return Ended(answer, MAX_ATTEMPTS, None)


def sentence(messages: list[JsonObject], add: Show) -> str | None:
    """Ask for the sentence about the result; None when the model writes none."""
    try:
        content = turn(messages, "none").get("content")
    except ValueError:
        return None
    if not isinstance(content, str) or not content.strip():
        return None
    add({"role": "assistant", "content": content})
    return content
