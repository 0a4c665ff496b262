"""The flow of one question, and the file to open first: question -> proposal -> gate -> observation -> answer.

The model is asked twice: for a tool call under a JSON schema, then for a sentence about what the tool read. In between
stands `tools.toolcall()`. No loop, no retry: one proposal, at most one tool call, one sentence.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Mapping
from typing import cast

from src.base.errors import CommandError
from src.base.records import Call, Generation, JsonObject, Outcome, Question, Step
from src.server.records import ChatRequest, Sampling, SchemaRequest
from src.server.reply import decode
from src.tools import REFERENCE, TOOLS, toolcall

CHOOSE = "Choisis un outil en JSON. Outils autorisés: rechercher_produit(ref), consulter_stock(ref)."
WORD = "Réponds uniquement avec le stock observé, ou introuvable. Ne devine pas."

# Sent as written: llama.cpp emits the keys in this order, and only an anchored pattern without \d constrains it.
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "outil": {"type": "string", "enum": list(TOOLS)},
        "arguments": {
            "type": "object",
            "properties": {"ref": {"type": "string", "pattern": f"^{REFERENCE.pattern}$"}},
            "required": ["ref"],
            "additionalProperties": False,
        },
    },
    "required": ["outil", "arguments"],
    "additionalProperties": False,
}

# Greedy decoding; the seed is for the record, llama.cpp does not use it at temperature 0.
# A prompt served from the cache can change the last bits of the logits, hence the text.
GENERATION: Sampling = {"temperature": 0, "seed": 42, "max_tokens": 100, "cache_prompt": False}

Told = Generation | Step | Exception  # proposal, step and answer of a question in this order; or what ended it


def request(model: str, system: str, prompt: str, schema: Mapping[str, object] | None, name: str) -> ChatRequest:
    """Return the body of one chat completion; `schema`, called `name`, restricts the reply to JSON of that form."""
    body: ChatRequest = {
        "model": model,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": prompt}],
        **GENERATION,
    }
    if schema is not None:
        # The nested shape is the one that constrains on every server; a top-level `schema` is silently ignored.
        constrained: SchemaRequest = {
            **body,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": name, "strict": True, "schema": schema},
            },
        }
        return constrained
    return body


def generate(prompt: str, schema: JsonObject | None = None, *, system: str) -> Generation:
    """Ask the model once and return its text as `raw`, `finish_reason`, `seconds`, and the server's own `timings`.

    With `schema` the reply must be JSON that conforms to it; a server may silently ignore the constraint, so the caller
    checks the text again. Raises `TransportFailure` or `BadReply`.
    """
    from src.server.client import current  # imports `requests`, which reading or testing `run()` does not need

    client = current()
    body = request(client.config.model, system, prompt, schema, "proposal")
    start = time.perf_counter()
    reply = client.chat(body)
    return {**reply, "seconds": time.perf_counter() - start}


def run(db: sqlite3.Connection, query: Question, *, told: Callable[[Told], object] = lambda _: None) -> Outcome:
    """Take one question through its stages; returns its fields with `proposal`, `trace`, `answer`, `error`, `seconds`.

    For REF-000 the trace holds the call and its observation, stock 0. Whatever refuses or fails leaves `answer` at
    `None` and its message in `error`, so that one question never loses the results of the others. `told` gets each
    stage as soon as it is known, and the exception itself of what refused or failed.
    """
    start = time.perf_counter()
    proposal: Generation | None = None
    answer: Generation | None = None
    error: str | None = None
    trace: list[Step] = []

    try:
        proposal = generate(query["query"], SCHEMA, system=CHOOSE)
        told(proposal)
        if proposal["finish_reason"] != "stop":
            raise ValueError("Proposition tronquée")
        call = decode(proposal["raw"])
        observation = toolcall(db, call)
        trace.append({"call": cast(Call, call), "observation": observation})  # `toolcall` has checked it
        told(trace[0])
        answer = generate(f"{query['query']}\nObservation outil: {json.dumps(observation)}", system=WORD)
        told(answer)
    except (MemoryError, CommandError):
        raise  # these end the command, as Ctrl-C does, which is not an `Exception`
    # Any other exception: whatever is behind `generate()`, one question never costs the results of the others.
    except Exception as exc:  # noqa: BLE001 (the one place in the project)
        error = str(exc) or type(exc).__name__
        told(exc)

    return {
        **query,
        "proposal": proposal,
        "trace": trace,
        "answer": answer,
        "error": error,
        "seconds": time.perf_counter() - start,
    }
