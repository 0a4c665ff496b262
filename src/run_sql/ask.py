"""`ask`: a model writes the query, run_sql decides, and its error goes back to the model at most twice.

The model server is the stock assistant's (`src.server.client`); what it may write is bound by the tool's own schema,
and is checked again here, since a server can drop a constraint silently. Whether an accepted query answers the
question that was asked is not checked: nothing here can.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from src.agent import request
from src.base.errors import ServerUnavailable
from src.base.records import Reply
from src.run_sql.contract import TABLES, run_sql_tool
from src.run_sql.records import Answer
from src.run_sql.tool import run_sql
from src.server.client import current
from src.server.records import ChatRequest
from src.server.reply import BadReply, TransportFailure, decode

MAX_ATTEMPTS = 3  # the first query and two corrections
MAX_TOKENS = 200  # a join with its conditions has 60 to 150
SCHEMA = {**run_sql_tool["input_schema"], "additionalProperties": False}
INSTRUCTION = """Escribe una sola consulta SELECT que responda a la pregunta. Responde solo con JSON, por ejemplo:
Pregunta: ¿Cuántos pagos hay?
{"query": "SELECT COUNT(*) FROM payments"}"""


@dataclass(frozen=True)
class Attempt:
    """One proposal: what the model wrote, the query in it if it had one, and run_sql's answer or why there is none."""

    number: int
    raw: str
    query: str | None
    answer: Answer


def system_prompt(con: sqlite3.Connection) -> str:
    """Return the tool's description, the tables as the database defines them, and the form of the reply."""
    found = dict(con.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    tables = "\n".join(" ".join(found[table].split()) + ";" for table in TABLES)
    return f"{run_sql_tool['description']}\n\n{tables}\n\n{INSTRUCTION}"


def user_prompt(question: str, attempts: list[Attempt]) -> str:
    """Return the question, followed by every query that failed and what run_sql said of it."""
    lines = [f"Pregunta: {question}"]
    for failed in attempts:
        lines += ["", f"Consulta {failed.number}: {failed.query or failed.raw}", f"Error: {failed.answer['error']}"]
    if attempts:
        lines += ["", "Corrige la consulta."]
    return "\n".join(lines)


def generate(system: str, user: str) -> Reply:
    """Ask the model for one query.

    Raises ServerUnavailable when no reply arrives, ValueError for one that is not a chat completion: llama.cpp answers
    HTTP 500 when what the model wrote does not parse, and the next attempt may.
    """
    client = current()
    body: ChatRequest = {**request(client.config.model, system, user, SCHEMA, "run_sql"), "max_tokens": MAX_TOKENS}
    try:
        return client.chat(body)
    except TransportFailure as exc:
        raise ServerUnavailable(f"model server {client.config.base_url}: {exc}; see its log") from None
    except BadReply as exc:
        raise ValueError(f"respuesta inservible: {exc}") from None


def query_of(reply: Reply) -> str:
    """Return the query of a reply; ValueError says why it holds none. Nothing is repaired."""
    if reply["finish_reason"] != "stop":
        raise ValueError(f"propuesta cortada ({reply['finish_reason']})")
    return query_in(reply["raw"])


def query_in(arguments: str) -> str:
    """Return the query in the tool's arguments, which are exactly `{"query": "..."}`; ValueError for all else."""
    proposal = decode(arguments)
    if type(proposal) is not dict or set(proposal) != {"query"} or type(proposal["query"]) is not str:
        raise ValueError('la propuesta no es {"query": "..."}')
    return str(proposal["query"])


def attempt(number: int, system: str, user: str, con: sqlite3.Connection) -> Attempt:
    """Let the model write one query and run it; whatever is wrong with either is the attempt's error."""
    raw = ""
    try:
        reply = generate(system, user)
        raw = reply["raw"]
        query = query_of(reply)
    except ValueError as fault:
        return Attempt(number, raw, None, {"ok": False, "error": str(fault)})
    return Attempt(number, raw, query, run_sql(query, con))


def ask(question: str, con: sqlite3.Connection, show: Callable[[Attempt], object]) -> list[Attempt]:
    """Return the attempts, at most MAX_ATTEMPTS; only the last can have been accepted. `show` is told each as it ends.

    Raises ServerUnavailable when the server cannot be reached, which is no attempt of the model's.
    """
    system = system_prompt(con)
    attempts: list[Attempt] = []
    for number in range(1, MAX_ATTEMPTS + 1):
        attempts.append(attempt(number, system, user_prompt(question, attempts), con))
        show(attempts[-1])
        if attempts[-1].answer["ok"]:
            break
    return attempts
