"""The lesson's commands: `python -m src.run_sql create|demo|query|exercises|describe|ask`.

Results go to stdout, JSON wherever a program might read them; a failure is one line on stderr with the remedy.
Exit status: 0 done, 1 refused or a check failed, 2 a precondition is missing or the arguments are wrong,
3 the model server failed. Ctrl-C is 1 too.
"""

import argparse
import contextlib
import io
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from src.base import exits, shell
from src.base.errors import CheckFailed, Precondition
from src.base.paths import dangling
from src.base.printable import dumps, is_question, note, visible
from src.base.registry import Registry
from src.run_sql import lesson, shapes
from src.run_sql.contract import TABLES, count_rows_tool, run_sql_tool
from src.run_sql.database import create as build
from src.run_sql.database import default_path
from src.run_sql.guard import Reservo, open_reservo
from src.run_sql.text import MAX_QUERY_CHARS
from src.run_sql.tool import MAX_ROWS, count_rows, run_sql

TOOLS = {tool["name"]: tool for tool in (run_sql_tool, count_rows_tool)}

EXAMPLE = "SELECT name FROM rooms"

COMMANDS = Registry(
    "python -m src.run_sql",
    "The run_sql lesson: a tool whose argument is SQL, described to a model and guarded by code.",
    "start with: python -m src.run_sql create && python -m src.run_sql demo",
)


def database_option(parser: argparse.ArgumentParser) -> None:
    """`--db`: the database that a command reads."""
    parser.add_argument("--db", type=Path, metavar="FILE", help="the database (default: outputs/reservo.db)")


def chosen(args: argparse.Namespace) -> Path:
    """The database of `--db`, else `reservo.db` in the folder of results."""
    return args.db or default_path(args.outputs)


@contextlib.contextmanager
def database(path: Path) -> Iterator[Reservo]:
    """Open the lesson's database for one command; Precondition says how to get one."""
    if reason := dangling(path):
        raise Precondition(reason)
    if not path.exists():
        remedy = shell.command("-m", "src.run_sql", "create", str(path))
        raise Precondition(f"no database at {path}; make one with: {remedy}")
    try:
        con = open_reservo(path)
    except (sqlite3.Error, OSError) as error:
        other = str(path.with_name(f"{path.stem}-new{path.suffix}"))
        raise Precondition(
            f"cannot use {path}: {error}; make another, and name it with --db: "
            f"{shell.command('-m', 'src.run_sql', 'create', other)}"
        ) from error
    with contextlib.closing(con):
        yield con


@COMMANDS.command(
    "create",
    "Build the Reservo database: 5 rooms, 8 members, 23 bookings, 18 payments.",
    "example: python -m src.run_sql create outputs/reservo.db",
    lambda parser: parser.add_argument("path", type=Path, nargs="?", help="new file (default: outputs/reservo.db)"),
)
def create(args: argparse.Namespace) -> int:
    """Build the file and print where it is and what it holds."""
    path = args.path or default_path(args.outputs)
    if path == default_path(args.outputs):  # the folder of results is made by whatever comes first
        path.parent.mkdir(parents=True, exist_ok=True)
    build(path)
    with database(path) as con:
        print(dumps({"path": str(path), "rows": {table: count_rows(table, con).get("count") for table in TABLES}}))
    return 0


@COMMANDS.command(
    "demo",
    "Run the lesson's example: four queries, a bypass attempt, the row cap.",
    "example: python -m src.run_sql demo",
    database_option,
)
def demo(args: argparse.Namespace) -> int:
    """Print the lesson's example, and check that the file is what it was."""
    path = chosen(args)
    before = path.read_bytes() if path.is_file() else b""
    with database(path) as con:
        for text in lesson.demo(con):
            print(text)
    if path.read_bytes() != before:
        raise CheckFailed(f"{path} is not what it was before the demo; please report this")
    return 0


@COMMANDS.command(
    "query",
    "Run one reading query through run_sql and print its answer as one line of JSON.",
    'example: python -m src.run_sql query "SELECT name FROM rooms" --max-rows 3',
    database_option,
    lambda parser: parser.add_argument("sql", metavar="SQL", help="one SELECT, or - to read it from standard input"),
    lambda parser: parser.add_argument(
        "--max-rows", type=int, default=MAX_ROWS, help=f"1 to {MAX_ROWS} (default: %(default)s)"
    ),
)
def query(args: argparse.Namespace) -> int:
    """Print run_sql's answer; status 1 when it is a refusal."""
    query = sys.stdin.read(MAX_QUERY_CHARS + 1) if args.sql == "-" else args.sql
    with database(chosen(args)) as con:
        answer = run_sql(query, con, max_rows=args.max_rows)
    print(dumps(answer))
    return 0 if answer["ok"] else 1


@COMMANDS.command(
    "exercises", "Show the three exercises, solved.", "example: python -m src.run_sql exercises", database_option
)
def exercises(args: argparse.Namespace) -> int:
    """Print the exercises."""
    with database(chosen(args)) as con:
        for text in lesson.exercises(con):
            print(text)
    return 0


@COMMANDS.command(
    "describe",
    "Print a tool's description in the shape that a client takes.",
    "example: python -m src.run_sql describe --format mcp --check",
    lambda parser: parser.add_argument(
        "--format", choices=list(shapes.FORMATS), default="anthropic", help="default: %(default)s"
    ),
    lambda parser: parser.add_argument("--tool", choices=list(TOOLS), default="run_sql", help="default: %(default)s"),
    lambda parser: parser.add_argument(
        "--check", action="store_true", help="validate it first (needs the package jsonschema)"
    ),
)
def describe(args: argparse.Namespace) -> int:
    """Print the description; with --check, first validate it against the client's shape."""
    described = shapes.FORMATS[args.format](TOOLS[args.tool])
    if args.check and (faults := shapes.faults(described, args.format)):
        raise CheckFailed(f"{args.tool} does not fit the format {args.format}: {'; '.join(faults)}")
    print(dumps(described, indent=2))
    return 0


@COMMANDS.command(
    "ask",
    "Let a model write the query for a question, three attempts at most (server: LLM_BASE_URL, or --embedded).",
    'example: python -m src.run_sql ask --embedded "¿Cuántas salas hay?"',
    database_option,
    lambda parser: parser.add_argument("question", metavar="QUESTION", help="in plain words"),
    lambda parser: parser.add_argument(
        "--tools", action="store_true", help="through the server's tool-call interface, its messages shown"
    ),
    asks_model=True,
)
def ask(args: argparse.Namespace) -> int:
    """Print each attempt, its query and run_sql's answer; status 1 when none was accepted."""
    if not is_question(args.question):
        raise Precondition('the question is empty or not UTF-8 text; ask for example "How many rooms are there?"')
    from src.run_sql import ask, ask_tools
    from src.server import client, embedded, readiness

    def show(attempt: ask.Attempt) -> None:
        wrote = attempt.raw if attempt.query is None else attempt.query
        print(
            f"attempt {attempt.number} of {ask.MAX_ATTEMPTS}\n   {visible(wrote)}\n{dumps(attempt.answer)}", flush=True
        )

    with contextlib.ExitStack() as stack:
        con = stack.enter_context(database(chosen(args)))
        stack.enter_context(embedded.chosen(args.embedded, default_path(args.outputs).parent, note))
        readiness.wait_ready(client.current(), note)
        if args.tools:
            ended = ask_tools.ask(args.question, con, lambda message: print(dumps(message), flush=True))
            answer, number = ended.answer, ended.calls
        else:
            last = ask.ask(args.question, con, show)[-1]
            answer, number = last.answer, last.number
    if not answer["ok"]:
        raise CheckFailed(
            f"no query was accepted in {number} attempts, the last error being: {answer['error']}; "
            f"ask in other words, or write it yourself, as in: {shell.command('-m', 'src.run_sql', 'query', EXAMPLE)}"
        )
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # JSON is UTF-8 whatever the terminal claims
    return exits.run(COMMANDS.parser(), argv)
