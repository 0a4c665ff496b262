"""The lesson's commands: `python -m src.run_sql create|demo|query|exercises|describe|ask`.

Results go to stdout, JSON wherever a program might read them; a failure is one line on stderr with the remedy.
Exit status: 0 done, 1 refused or a check failed, 2 a precondition is missing or the arguments are wrong,
3 the model server failed. Ctrl-C is 1 too.
"""

import argparse
import contextlib
import io
import shlex
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from src.base import exits
from src.base.errors import CheckFailed, Precondition
from src.base.parser import Parser
from src.base.printable import dumps, say, visible
from src.run_sql import lesson, shapes
from src.run_sql.contract import TABLES, count_rows_tool, run_sql_tool
from src.run_sql.database import create, default_path
from src.run_sql.guard import Reservo, open_reservo
from src.run_sql.text import MAX_QUERY_CHARS
from src.run_sql.tool import MAX_ROWS, count_rows, run_sql

TOOLS = {tool["name"]: tool for tool in (run_sql_tool, count_rows_tool)}

CREATE_HELP = "builds the Reservo database: 5 rooms, 8 members, 23 bookings, 18 payments"
DEMO_HELP = "runs the lesson's example: four queries, a bypass attempt, the row cap"
QUERY_HELP = "runs one reading query through run_sql and prints its answer as one line of JSON"
EXERCISES_HELP = "shows the three exercises, solved"
ASK_HELP = "lets a model write the query for a question, three attempts at most (server: LLM_BASE_URL, or --embedded)"
DESCRIBE_HELP = "prints a tool's description in the shape that a client takes"


@contextlib.contextmanager
def database(path: Path) -> Iterator[Reservo]:
    """Open the lesson's database for one command; Precondition says how to get one."""
    if not path.exists():
        remedy = f"python -m src.run_sql create {shlex.quote(str(path))}"
        raise Precondition(f"no database at {path}; make one with: {remedy}")
    try:
        con = open_reservo(path)
    except (sqlite3.Error, OSError) as error:
        raise Precondition(
            f"cannot use {path}: {error}; make another with: python -m src.run_sql create PATH"
        ) from error
    with contextlib.closing(con):
        yield con


def command_create(args: argparse.Namespace) -> int:
    """Build the file and print where it is and what it holds."""
    if args.path == default_path():  # the folder of results is made by whatever comes first
        args.path.parent.mkdir(parents=True, exist_ok=True)
    path = create(args.path)
    with database(path) as con:
        print(dumps({"path": str(path), "rows": {table: count_rows(table, con).get("count") for table in TABLES}}))
    return 0


def command_demo(args: argparse.Namespace) -> int:
    """Print the lesson's example, and check that the file is what it was."""
    before = args.db.read_bytes() if args.db.is_file() else b""
    with database(args.db) as con:
        for text in lesson.demo(con):
            print(text)
    if args.db.read_bytes() != before:
        raise CheckFailed(f"{args.db} is not what it was before the demo; please report this")
    return 0


def command_query(args: argparse.Namespace) -> int:
    """Print run_sql's answer; status 1 when it is a refusal."""
    query = sys.stdin.read(MAX_QUERY_CHARS + 1) if args.sql == "-" else args.sql
    with database(args.db) as con:
        answer = run_sql(query, con, max_rows=args.max_rows)
    print(dumps(answer))
    return 0 if answer["ok"] else 1


def command_exercises(args: argparse.Namespace) -> int:
    """Print the exercises."""
    with database(args.db) as con:
        for text in lesson.exercises(con):
            print(text)
    return 0


def command_describe(args: argparse.Namespace) -> int:
    """Print the description; with --check, first validate it against the client's shape."""
    described = shapes.FORMATS[args.format](TOOLS[args.tool])
    if args.check and (faults := shapes.faults(described, args.format)):
        raise CheckFailed(f"{args.tool} does not fit the format {args.format}: {'; '.join(faults)}")
    print(dumps(described, indent=2))
    return 0


def command_ask(args: argparse.Namespace) -> int:
    """Print each attempt, its query and run_sql's answer; status 1 when none was accepted."""
    if not args.question.strip() or not args.question.isprintable():
        raise Precondition('the question is empty or not plain text; ask for example "How many rooms are there?"')
    from src.run_sql import ask
    from src.server import client, embedded, readiness

    def show(attempt: ask.Attempt) -> None:
        wrote = attempt.raw if attempt.query is None else attempt.query
        print(
            f"attempt {attempt.number} of {ask.MAX_ATTEMPTS}\n   {visible(wrote)}\n{dumps(attempt.answer)}", flush=True
        )

    with contextlib.ExitStack() as stack:
        con = stack.enter_context(database(args.db))
        stack.enter_context(embedded.chosen(args.embedded, default_path().parent, say))
        readiness.wait_ready(client.current(), say)
        last = ask.ask(args.question, con, show)[-1]
    if not last.answer["ok"]:
        raise CheckFailed(
            f"no query was accepted in {last.number} attempts, the last error being: {last.answer['error']}; "
            "ask in other words, or write it yourself with: python -m src.run_sql query"
        )
    return 0


def parser() -> Parser:
    """Return the parser of all commands."""
    top = Parser(
        prog="python -m src.run_sql",
        description="The run_sql lesson: a tool whose argument is SQL, described to a model and guarded by code.",
        epilog="Start with: python -m src.run_sql create && python -m src.run_sql demo",
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, summary: str, example: str) -> Parser:
        command: Parser = commands.add_parser(name, help=summary, description=summary, epilog=f"Example: {example}")
        if name not in ("create", "describe"):
            command.add_argument("--db", type=Path, default=default_path(), help="the database (default: %(default)s)")
        return command

    made = add("create", CREATE_HELP, "python -m src.run_sql create outputs/reservo.db")
    made.add_argument("path", type=Path, nargs="?", default=default_path(), help="new file (default: %(default)s)")
    made.set_defaults(run=command_create)

    add("demo", DEMO_HELP, "python -m src.run_sql demo").set_defaults(run=command_demo)

    query = add("query", QUERY_HELP, 'python -m src.run_sql query "SELECT name FROM rooms" --max-rows 3')
    query.add_argument("sql", metavar="SQL", help="one SELECT, or - to read it from standard input")
    query.add_argument("--max-rows", type=int, default=MAX_ROWS, help=f"1 to {MAX_ROWS} (default: %(default)s)")
    query.set_defaults(run=command_query)

    add("exercises", EXERCISES_HELP, "python -m src.run_sql exercises").set_defaults(run=command_exercises)

    ask = add("ask", ASK_HELP, 'python -m src.run_sql ask --embedded "¿Cuántas salas hay?"')
    ask.add_argument("question", metavar="QUESTION", help="in plain words")
    ask.add_argument("--embedded", action="store_true", help="use the model server of the xllamacpp wheel (CPU)")
    ask.set_defaults(run=command_ask)

    describe = add("describe", DESCRIBE_HELP, "python -m src.run_sql describe --format mcp --check")
    describe.add_argument("--format", choices=list(shapes.FORMATS), default="anthropic", help="default: %(default)s")
    describe.add_argument("--tool", choices=list(TOOLS), default="run_sql", help="default: %(default)s")
    describe.add_argument("--check", action="store_true", help="validate it first (needs the package jsonschema)")
    describe.set_defaults(run=command_describe)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # JSON is UTF-8 whatever the terminal claims
    return exits.run(parser(), lambda args: args.run(args), argv)
