"""How a model does at writing the queries: ten questions through `ask`, each answer held against a query known right.

A measurement, not a test: `python -m tests.run_sql.measure_ask [--embedded] [--tools]`, or the server of LLM_BASE_URL.
Accepted means that run_sql ran the query; right means that its rows are those of the known query, in any order. With
--tools: called means that the model used the interface, worded that its sentence holds the first cell of the rows.
"""

import argparse
import contextlib
import tempfile
import time
from pathlib import Path

from src.base.printable import dumps
from src.base.records import JsonObject
from src.run_sql import ask, ask_tools, open_reservo, run_sql
from src.run_sql.database import create
from src.run_sql.records import Answer
from src.server import client, embedded, readiness

QUESTIONS = (
    ("¿Cuántas salas hay?", "SELECT count(*) FROM rooms"),
    ("¿Cuántas reservas hay?", "SELECT count(*) FROM bookings"),
    ("¿Qué salas tienen capacidad para 4 o más personas?", "SELECT name FROM rooms WHERE capacity >= 4"),
    ("¿Cuántos miembros hay de cada tipo (tier)?", "SELECT tier, count(*) FROM members GROUP BY tier"),
    ("¿Cuál es el total cobrado en centavos?", "SELECT sum(amount_cents) FROM payments"),
    ("How many bookings were cancelled?", "SELECT count(*) FROM bookings WHERE status = 'cancelled'"),
    ("Which room has the largest capacity?", "SELECT name FROM rooms ORDER BY capacity DESC LIMIT 1"),
    ("List the names of the pro members.", "SELECT name FROM members WHERE tier = 'pro'"),
    (
        "How many bookings does each room have?",
        "SELECT r.name, count(*) FROM rooms r JOIN bookings b ON b.room_id = r.id GROUP BY r.id",
    ),
    ("How much was paid in cash, in cents?", "SELECT sum(amount_cents) FROM payments WHERE method = 'cash'"),
)


def rows(answer: Answer) -> list[str]:
    """Return an answer's rows in an order of their own."""
    return sorted(map(repr, answer.get("rows", [])))


def main() -> None:
    """Ask, print one line a question, then the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedded", action="store_true", help="use the model server of the xllamacpp wheel (CPU)")
    parser.add_argument("--tools", action="store_true", help="through the tool-call interface")
    args = parser.parse_args()
    called = worded = 0
    accepted = right = attempts = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        if args.embedded:
            stack.enter_context(embedded.running(Path(folder) / "server.log", print))
        readiness.wait_ready(client.current(), print)
        con = stack.enter_context(contextlib.closing(open_reservo(create(Path(folder) / "reservo.db"))))
        for question, known in QUESTIONS:
            start = time.monotonic()
            if args.tools:
                messages: list[JsonObject] = []
                ended = ask_tools.ask(question, con, messages.append)
                answer, count, wrote = ended.answer, ended.calls, ended.sentence
                called += any(
                    "tool_calls" in message and ask_tools.BY_SCHEMA not in dumps(message) for message in messages
                )
                worded += bool(wrote and answer["ok"] and answer["rows"] and str(answer["rows"][0][0]) in wrote)
            else:
                made = ask.ask(question, con, lambda attempt: None)
                answer, count, wrote = made[-1].answer, len(made), made[-1].query
            fits = answer["ok"] and rows(answer) == rows(run_sql(known, con))
            accepted, right, attempts = accepted + answer["ok"], right + fits, attempts + count
            outcome = "right" if fits else "accepted, wrong" if answer["ok"] else "none accepted"
            print(
                f"{question}  {outcome}, {count} attempts, {time.monotonic() - start:.0f} s: {wrote!r:.100}", flush=True
            )
    print(f"{len(QUESTIONS)} questions, {attempts} attempts: {accepted} accepted, {right} right")
    if args.tools:
        print(f"{called} called through the interface, {worded} worded")


if __name__ == "__main__":
    main()
