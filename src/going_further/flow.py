"""The flow of one question with a caller: `agent.run()` with three tools on offer and `decide()` between the two.

As in R3: one proposal, at most one tool call, one sentence. Every proposal leaves one line in the log of decisions.
"""

import json
import sqlite3
import time
from typing import Any

from src import agent
from src.base.records import Generation, JsonObject, JsonValue, Question
from src.going_further import low_stock
from src.going_further.access import ALLOWED, MALFORMED, Decision, decide
from src.going_further.callers import Caller
from src.going_further.decisions import DecisionLog
from src.going_further.records import Answered, Step
from src.server.reply import BadReply, decode

CHOOSE = (
    "Choisis un outil en JSON. Outils autorisés: rechercher_produit(ref), consulter_stock(ref), "
    "lister_stock_bas(seuil)."
)
SCHEMA: JsonObject = {"anyOf": [agent.SCHEMA, low_stock.SCHEMA]}
TRUNCATED = "Proposition tronquée"
READ_FAILED = "the read failed"


def proposed(proposal: Generation) -> JsonValue:
    """Return the call in a proposal; `ValueError` when there is none. The reason is ours, not the model's words."""
    if proposal["finish_reason"] != "stop":
        raise ValueError(TRUNCATED)
    try:
        return decode(proposal["raw"])
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None


def answer_call(db: sqlite3.Connection, call: Any, caller: Caller, log: DecisionLog) -> Decision:
    """Decide about a call and record it; only then does anybody else learn of the decision."""
    try:
        decision = decide(db, call, caller)
    except sqlite3.Error:  # only an allowed call gets as far as the read
        log.add(caller, call, Decision(ALLOWED, READ_FAILED, None))
        raise
    log.add(caller, call, decision)
    return decision


def run(db: sqlite3.Connection, query: Question, caller: Caller, log: DecisionLog) -> Answered:
    """Take one question of a caller through its stages; returns what `agent.run()` returns, with `decision`.

    `observation` in the trace is what the model gets. Raises `Precondition` when the decision cannot be
    recorded and `TransportFailure` when the server is gone.
    """
    start = time.perf_counter()
    proposal: Generation | None = None
    answer: Generation | None = None
    error: str | None = None
    decision: str | None = None
    trace: list[Step] = []
    try:
        proposal = agent.generate(query["query"], SCHEMA, system=CHOOSE)
        try:
            call = proposed(proposal)
        except ValueError as exc:
            log.add(caller, None, Decision(MALFORMED, str(exc), None))
            decision = MALFORMED
            raise
        made = answer_call(db, call, caller, log)
        decision = made.decision
        if made.observation is None:
            raise ValueError(made.reason)
        trace.append({"call": call, "observation": made.observation})
        answer = agent.generate(
            f"{query['query']}\nObservation outil: {json.dumps(made.observation)}", system=agent.WORD
        )
    except (BadReply, sqlite3.Error, ValueError) as exc:  # not TransportFailure: then no next question can be answered
        error = str(exc) or type(exc).__name__
    return {
        **query,
        "proposal": proposal,
        "decision": decision,
        "trace": trace,
        "answer": answer,
        "error": error,
        "seconds": time.perf_counter() - start,
    }
