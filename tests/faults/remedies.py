"""Every remedy that the program prints, with each cause that leads to it: one row a pair, for `test_remedies`.

A row makes the state, gives the words of the command that fails, and mends the state as the line says: by pasting the
command that the line ends with, or by doing what it asks for. What another suite does is named in ELSEWHERE.
"""

import errno
import json
import os
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

from src.base import exits
from src.server.failures import LOCAL
from tests.support.faulty_server import Request, Step, hang_up, http, send, wait
from tests.support.project import ROOT, Shop, succeeded

CALL = '{"outil": "consulter_stock", "arguments": {"ref": "REF-000"}}'
QUESTION = "How many of REF-001?"
OTHER = str(ROOT / "data" / "hostile.json")


@dataclass
class World:
    """A prepared folder, the address of a server that is as broken as the row wants it, and the command that fails."""

    shop: Shop
    words: list[str] = field(default_factory=list)
    broken: bool = True
    keep: list[Any] = field(default_factory=list)  # what has to stay open
    patch: pytest.MonkeyPatch = field(default_factory=pytest.MonkeyPatch)

    def __call__(self, *words: str) -> None:
        """The command that fails."""
        self.words = [*words]

    @property
    def out(self) -> Path:
        return self.shop.outputs

    def good(self, *words: str) -> str:
        """A command that works, whatever the server is to do in this row."""
        self.broken = False
        told = succeeded(self.shop.run(*words))
        self.broken = True
        return told

    def own(self, **changes: Any) -> str:
        """A data file of three products and two questions, with these parts changed."""
        names = [("REF-000", 0), ("REF-001", 4), ("REF-002", 7)]
        data = {
            "products": [{"ref": ref, "name": "x", "stock": stock} for ref, stock in names],
            "queries": [{"id": 0, "ref": "REF-001", "query": "REF-001?"}, {"id": 1, "ref": "REF-002", "query": "2?"}],
        }
        path = self.out.parent / "mine.json"
        path.write_text(json.dumps({**data, **changes}), encoding="utf-8")
        return str(path)

    def interrupted(self, *words: str) -> None:
        """Leave an interrupted run behind."""
        self.broken = False
        self.plan = lambda request: [hang_up] if request.stage and request.number > 12 else None
        assert self.shop.run("agent", *words).status == 3
        self.plan, self.broken = None, True

    plan: Callable[[Request], Sequence[Step] | None] | None = None

    def write(self, name: str, text: str) -> Path:
        """Put this text into the folder of results."""
        (self.out / name).write_text(text, encoding="utf-8")
        return self.out / name

    def sql(self, *statements: str) -> None:
        """Change the database as no command of ours does."""
        with sqlite3.connect(self.shop.database) as db:
            for statement in statements:
                db.execute(statement)
        db.close()

    def another_folder(self) -> None:
        """Prepare another folder, as several remedies ask for."""
        self.shop.outputs = self.out.parent / "another"
        if self.words[0] != "prepare":
            self.good("prepare")

    def mended(self) -> None:
        """What is outside of this program was put right."""
        self.broken = False


State = Callable[[World], object]
PASTE = "paste"  # the command that the line ends with


@dataclass(frozen=True)
class Row:
    remedy: str  # as the source has it
    cause: str
    state: State
    mend: State | str
    status: int = 2
    plan: Callable[[Request], Sequence[Step] | None] | None = None
    again: bool = True  # whether the same command works afterwards; a pasted one may have done its work
    program: str = "src.cli"


def do(*steps: Any) -> State:
    """Several steps as one: functions, and at the end the words of the command that fails."""

    def run(world: World) -> None:
        for step in steps:
            step(world) if callable(step) else world(*step)

    return run


def env(**values: str | None) -> State:
    """Set variables, or take them away."""

    def run(world: World) -> None:
        for name, value in values.items():
            world.shop.env.pop(name, None) if value is None else world.shop.env.update({name: value})

    return run


def words(*given: str) -> State:
    """Give the command otherwise."""
    return lambda world: world(*given)


def status(code: str, body: bytes = b"{}", only: str = "") -> Callable[[Request], Sequence[Step] | None]:
    """A server that answers everything, or one path, so."""
    return lambda request: [send(http(body, code))] if request.path.startswith(only) else None


def swapped(request: Request) -> Sequence[Step] | None:
    """Another model answers from REF-012 on."""
    from tests.support.faulty_server import completion, proposal

    if request.stage == "proposal" and "REF-012" in request.asked:
        return [send(http(completion(proposal("REF-012")).replace(b"stand-in", b"swapped")))]
    return None


ASK = ("ask", QUESTION)
FOREIGN = '{"identity": {}}\n'
NEW = "start from a fresh copy of the project, or prepare another folder (--outputs)"
RESTORE, CORRECT = (
    "restore it from the repository or name another file with --data",
    "correct it, or name another file with --data",
)
RUN_FIRST, FINISH = "run the questions first with: ", "finish the interrupted run with: "
BACK = "bring that back and run this again, or start anew with: "
LATER, BROKEN = "raise LLM_WAIT_S, or see its log", "see its log, or look at LLM_BASE_URL"
A_KEY = "name a file that holds the key"
NAME_IT = "name the data file with --data"


def gone(world: World) -> None:
    world.shop.database.unlink()


def dangling(world: World) -> None:
    world.shop.database.rename(world.out.parent / "kept.db")
    world.shop.database.symlink_to(world.out.parent / "away.db")


def held(world: World) -> None:
    import fcntl
    import os

    world.keep.append(os.open(world.out, os.O_RDONLY))
    fcntl.flock(world.keep[-1], fcntl.LOCK_EX)


def released(world: World) -> None:
    import os

    os.close(world.keep.pop())


DATABASE = [
    Row("build it with: ", "nothing was prepared (negatives)", do(gone, ("negatives",)), PASTE),
    Row("build it with: ", "nothing was prepared (agent)", do(gone, ("agent",)), PASTE),
    Row(
        "start from a fresh copy of the project, or name another folder with --outputs",
        "there is a database",
        words("prepare"),
        World.another_folder,
    ),
    Row("remove it, or bring that back", "a dangling link, prepare", do(dangling, ("prepare",)), gone),
    Row(
        "something else is in its place: move it away",
        "a folder named stock.db",
        do(gone, lambda w: w.shop.database.mkdir(), ("prepare",)),
        lambda w: w.shop.database.rmdir(),
    ),
    Row(
        "remove it, or bring that back",
        "a dangling link, negatives",
        do(dangling, ("negatives",)),
        lambda w: (w.out.parent / "kept.db").rename(w.out.parent / "away.db"),
    ),
    *[
        Row(NEW, cause, do(make, ("negatives",)), World.another_folder)
        for cause, make in {
            "a journal of SQLite's lies there": lambda w: w.write("stock.db-journal", ""),
            "no database at all": lambda w: w.write("stock.db", "text" * 99),
            "a stock that is a text": lambda w: w.sql("UPDATE products SET stock='x' WHERE ref='REF-001'"),
            "WAL mode": lambda w: w.sql("PRAGMA journal_mode=WAL"),
        }.items()
    ],
]
DATA = [
    Row(
        "name another file with --data",
        "no such file",
        words("prepare", "--data", "nowhere.json"),
        do(gone, ("prepare",)),
    ),
    Row(
        CORRECT,
        "half a file",
        do(lambda w: w.write("x.json", '{"products": ['), lambda w: w("agent", "--data", str(w.out / "x.json"))),
        words("agent"),
    ),
    Row(
        CORRECT,
        "a product without a name",
        lambda w: w("agent", "--data", w.own(products=[{"ref": "REF-000"}])),
        lambda w: w.own(),
    ),
    Row(
        NAME_IT,
        "the data file moved",
        do(gone, lambda w: moved(w), ("agent",)),
        lambda w: w("agent", "--data", w.own()),
    ),
    Row(
        NAME_IT,
        "the record of prepare is cut",
        do(lambda w: w.write("prepare.json", "{"), ("agent",)),
        words("agent", "--data", "data/products.json"),
    ),
    Row(
        NAME_IT,
        "the record of prepare is another program's",
        do(lambda w: w.write("prepare.json", "[]"), ("agent",)),
        words("agent", "--data", "data/products.json"),
    ),
    Row(
        "there is: ",
        "a language that the reader's own file has not",
        lambda w: w("agent", "--lang", "es", "--data", w.own()),
        lambda w: w("agent", "--lang", "en", "--data", w.own()),
    ),
    Row(
        "leave --data out, or name a shop's file",
        "questions in place of a shop",
        do(gone, ("prepare", "--data", OTHER)),
        words("prepare"),
    ),
    Row(
        "name the file of that run with --data, or run the questions again",
        "another data file",
        do(lambda w: w.good("agent"), lambda w: w("evaluate", "--data", w.own())),
        words("evaluate", "--data", "data/products.json"),
    ),
]


def moved(world: World) -> None:
    path = Path(world.own())
    world.good("prepare", "--data", str(path))
    path.unlink()


def foreign_run(world: World) -> None:
    world.good("agent")
    run = world.shop.read()
    run["results"][3]["query"] = "?"
    world.write("agent.json", json.dumps(run))


RUNS = [
    Row(RUN_FIRST, "there is no run, evaluate", words("evaluate"), PASTE),
    Row(RUN_FIRST, "there is no run, report", words("report"), PASTE),
    Row(RUN_FIRST, "there is not even a database", do(gone, ("evaluate",)), PASTE),
    Row(RUN_FIRST, "half a file", do(lambda w: w.write("agent.json", "{"), ("evaluate",)), PASTE),
    Row(RUN_FIRST, "no run in the file", do(lambda w: w.write("agent.json", "[]"), ("report",)), PASTE),
    Row(RUN_FIRST, "a question that was not asked", do(foreign_run, ("evaluate",)), PASTE),
    Row(
        FINISH,
        "the file of an interrupted run is gone",
        do(World.interrupted, lambda w: (w.out / "agent.json").unlink(), ("evaluate",)),
        PASTE,
    ),
    Row(
        "start it again",
        "the server hangs up on everything",
        words("agent"),
        do(World.mended, ("agent", "--resume")),
        3,
        lambda r: [hang_up] if r.stage else None,
    ),
    Row(
        "if it is only slow, raise LLM_TIMEOUT_S; else see its log",
        "replies take longer than LLM_TIMEOUT_S",
        do(env(LLM_TIMEOUT_S="0.2"), ("agent",)),
        do(env(LLM_TIMEOUT_S="10"), World.mended, ("agent", "--resume")),
        3,
        lambda r: [wait(1)] if r.stage else None,
    ),
    Row("start one with: ", "there is nothing to resume", words("agent", "--resume"), PASTE, again=False),
    Row(
        "move it away and start anew: ",
        "another program's journal",
        do(lambda w: w.write("agent.journal.jsonl", FOREIGN), ("agent", "--resume")),
        do(lambda w: (w.out / "agent.journal.jsonl").unlink(), ("agent",)),
    ),
    Row(
        BACK,
        "another model answers",
        do(World.interrupted, ("agent", "--resume")),
        PASTE,
        plan=status("200 OK", b'{"data":[{"id":"another"}]}', "/v1/models"),
        again=False,
    ),
    Row(
        BACK,
        "the data file was changed",
        do(lambda w: changed_data(w), ("agent", "--resume")),
        PASTE,
        again=False,
    ),
    Row("start a new run with: ", "two models answered, agent", words("agent"), PASTE, 1, swapped),
    Row(
        "start a new run with: ",
        "two models answered, evaluate",
        do(lambda w: w.shop.run("agent"), ("evaluate",)),
        PASTE,
        1,
        swapped,
    ),
    Row(
        "name a folder of results or its agent.json with --against",
        "no run in that folder",
        do(lambda w: w.good("agent"), lambda w: w("evaluate", "--against", str(w.out.parent))),
        lambda w: w("evaluate", "--against", str(w.out)),
    ),
    Row(
        "leave it out",
        "--against with hostile questions",
        do(lambda w: w.good("agent", "--data", OTHER), lambda w: w("evaluate", "--against", str(w.out))),
        words("evaluate"),
    ),
    Row("wait for it or use --outputs", "another run is going on", do(held, ("agent",)), released),
    Row(
        "make it again or move it away",
        "half an evaluation",
        do(lambda w: w.good("agent"), lambda w: w.write("evaluation.json", "{"), ("report",)),
        lambda w: w.good("evaluate"),
    ),
]


def changed_data(world: World) -> None:
    gone(world)
    world.good("prepare", "--data", world.own())
    world.plan = lambda request: [hang_up] if "2?" in request.asked else None
    assert "lost on the way" in succeeded(world.shop.run("agent"))
    world.plan = None
    world.own(queries=[{"id": 0, "ref": "REF-001", "query": "otherwise?"}])


def key_file(text: str | None) -> State:
    def run(world: World) -> None:
        if text is not None:
            (world.out.parent / "key").write_text(text, encoding="utf-8")
        world.shop.env["LLM_API_KEY_FILE"] = str(world.out.parent / "key")

    return run


SETTINGS = [
    *[
        Row("give a number from 1", " ".join(given), words(*given), words(given[0]), again=given[0] == "agent")
        for given in (("agent", "--jobs", "0"), ("agent", "--jobs", "193"))
    ],
    Row("set it to one of them, or unset it", "R3_LANG", do(env(R3_LANG="xx"), ("agent",)), env(R3_LANG=None)),
    *[
        Row(remedy, f"{name}={value}", do(env(**{name: value}), ASK), env(**{name: None}))
        for name, value, remedy in (
            ("LLM_BASE_URL", "http://u:p@127.0.0.1:1", "give the address alone, as in "),
            ("LLM_BASE_URL", "127.0.0.1:80", "is not an http(s) address; example: "),
            ("LLM_TIMEOUT_S", "soon", "; example: LLM_TIMEOUT_S=120"),
            ("LLM_WAIT_S", "-1", "; example: LLM_WAIT_S=600"),
            ("LLM_API_KEY", "schlüssel", "check how it was set"),
            ("R3_EMBEDDED", "yes", "set it to 1 for the embedded model server"),
        )
    ],
    Row(
        "unset one, so that it is clear which counts",
        "a key and a file of keys",
        do(key_file("k"), env(LLM_API_KEY="k"), ASK),
        env(LLM_API_KEY=None),
    ),
    Row(A_KEY, "no such file", do(key_file(None), ASK), key_file("k")),
    Row(
        "no key file; it holds one key a line, in printable ASCII and no spaces",
        "empty",
        do(key_file(" "), ASK),
        key_file("k"),
    ),
    Row(
        "ask for example ", "an empty question", words("ask", " "), words("ask", "What is the stock level for REF-000?")
    ),
]
SERVER = [
    Row(LATER, "the model is loading", words("agent"), World.mended, 3, status("503 Wait")),
    Row(LATER, "a slow server", do(env(LLM_WAIT_S="1.2"), ("agent",)), World.mended, 3, lambda r: [wait(3)]),
    Row(
        BROKEN, "it hangs up on everything", do(env(LLM_WAIT_S="0.2"), ("agent",)), World.mended, 3, lambda r: [hang_up]
    ),
    Row(BROKEN, "no HTTP", do(env(LLM_WAIT_S="0.2"), ("agent",)), World.mended, 3, lambda r: [send(b"SSH-2.0\r\n")]),
    Row("look at LLM_BASE_URL", "a web server", words("agent"), World.mended, 3, status("404 No", b"<html>")),
    Row(
        "check LLM_API_KEY, or LLM_API_KEY_FILE", "a key is wanted", words("agent"), World.mended, 3, status("401 Key")
    ),
    Row(
        "a gateway may answer so where LLM_API_KEY is missing or wrong",
        "every page fails",
        do(env(LLM_WAIT_S="0.2"), ("agent",)),
        World.mended,
        3,
        status("500 Oops"),
    ),
]
SYSTEM = [
    Row(
        "a file, or a link to nothing, is in the place of a folder; move it away",
        "the folder of results is a file",
        do(lambda w: a_file(w, ""), ("prepare",)),
        lambda w: w.out.unlink(),
    ),
    Row(
        "a file is in place of a folder; move it away",
        "a file on the way to the folder",
        do(lambda w: a_file(w, "o"), ("prepare",)),
        lambda w: w.out.parent.unlink(),
    ),
    Row(
        "a folder is in place of a file; move it away",
        "a folder named report.html",
        do(lambda w: w.good("agent"), lambda w: (w.out / "report.html").mkdir(), ("report",)),
        lambda w: (w.out / "report.html").rmdir(),
    ),
    Row(
        "something else is in the place of a file; move it away",
        "a folder named agent.json",
        do(lambda w: w.good("agent"), lambda w: aside(w), ("evaluate",)),
        do(lambda w: (w.out / "agent.json").rmdir(), lambda w: (w.out / "run.json").rename(w.out / "agent.json")),
    ),
]


def a_file(world: World, below: str) -> None:
    """A file in the place of the folder of results, or above it."""
    path = world.out.parent / "file"
    path.write_text("x", encoding="utf-8")
    world.shop.outputs = path / below


def aside(world: World) -> None:
    (world.out / "agent.json").rename(world.out / "run.json")
    (world.out / "agent.json").mkdir()


EXERCISE = [
    Row(
        "do it with R3's shop: ",
        "an own shop where nothing is out of stock",
        do(
            gone,
            lambda w: w.good("prepare", "--data", w.own(products=[{"ref": "REF-001", "name": "x", "stock": 4}])),
            ("exercise",),
        ),
        PASTE,
        again=False,
    ),
]


def refuses(number: int, where: str) -> State:
    """Let the operating system refuse an operation."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise OSError(number, os.strerror(number), "file")

    return lambda world: world.patch.setattr(where, refuse)


def undone(world: World) -> None:
    """The operating system allows it again."""
    world.patch.undo()


SYSTEM += [
    Row(
        remedy,
        f"{os.strerror(number)}, while writing",
        do(refuses(number, "src.runs.store.write_text"), ("negatives",)),
        undone,
    )
    for number, remedy in exits.ADVICE.items()
]
SYSTEM += [
    Row(
        exits.SEE,
        "no permission to read a result",
        do(refuses(errno.EACCES, "src.runs.store.read_bytes"), lambda w: w.write("agent.json", ""), ("report",)),
        do(undone, lambda w: (w.out / "agent.json").unlink(), lambda w: w.good("agent")),
    ),
    Row(
        "see its permissions",
        "no permission to read the database",
        do(refuses(errno.EACCES, "src.runs.database.in_wal_mode"), ("negatives",)),
        undone,
    ),
]
OURS = [
    Row(
        LOCAL[number],
        f"{os.strerror(number)}, while connecting",
        do(refuses(number, "socket.socket.connect"), ASK),
        undone,
    )
    for number in LOCAL
]
HTTPS = {"LLM_BASE_URL": "https://127.0.0.1:1"}
SETTINGS += [
    Row(
        "name a PEM file, or a folder, of certificates, or unset it",
        cause,
        do(env(SSL_CERT_FILE=path, **HTTPS), ASK),
        env(SSL_CERT_FILE=None, LLM_BASE_URL=None),
    )
    for cause, path in {"no such file": "/nowhere", "no certificate in it": str(ROOT / "README.md")}.items()
]
SHEET = "ref,name,stock\nREF-000,Mug,0\nREF-001,Jug,4\n"


def sheet(text: str, *more: str) -> State:
    """A spreadsheet's file of a reader's own, to be prepared."""

    def run(world: World) -> None:
        world.shop.database.unlink(missing_ok=True)
        path = world.out.parent / "shop.csv"
        path.write_text(text, encoding="utf-8")
        world("prepare", "--data", str(path), *more)

    return run


OWN = [
    Row(remedy, cause, sheet(text, *more), sheet(SHEET))
    for remedy, cause, text, more in (
        ("correct what is listed above and run it again", "a negative stock", SHEET.replace(",4", ",-4"), ()),
        ("leave one of these columns out", "a column twice", SHEET.replace("ref,", "ref,ref,", 1), ()),
        ("it must name the columns", "no column of stocks", SHEET.replace("stock", "colour"), ()),
        ("add a row", "a header alone", "ref,name,stock\n", ()),
        ("leave one out", "--questions and --ask", SHEET, ("--questions", "q.csv", "--ask", "3")),
    )
]
OWN += [
    Row(
        "a spreadsheet's file goes to 'prepare --data', and the commands after it need no --data then",
        "a spreadsheet given to agent",
        do(sheet(SHEET), lambda w: w.good("prepare"), lambda w: w("agent", "--data", w.words[2])),
        do(sheet(SHEET), lambda w: w.good(*w.words), ("agent",)),
    ),
    Row(
        "build from it with --data, or name another folder with --outputs",
        "the shop made before is there, its database is not",
        do(sheet(SHEET), lambda w: w.good(*w.words), gone),
        lambda w: w("prepare", "--data", str(w.out / "shop.json")),
    ),
    Row(
        "put a call of the tool `delete` back",
        "an empty list in src/cli.py",
        do(lambda w: w.patch.setattr("src.cli.cases", []), ("exercise",)),
        undone,
    ),
]
LESSON = "src.run_sql"


def created(*below: str) -> State:
    """The lesson's database at this place."""
    return lambda world: world("create", str(world.out.joinpath(*below)))


LESSONS = [
    Row("make one with: ", "no database of the lesson", words("query", "SELECT 1"), PASTE, program=LESSON),
    Row(
        "make another, and name it with --db: ",
        "another file in its place",
        do(lambda w: w.write("reservo.db", "text" * 99), ("query", "SELECT 1")),
        PASTE,
        again=False,
        program=LESSON,
    ),
    *[
        Row(
            remedy,
            cause,
            created(*below),
            created("r.db"),
            program=LESSON,
        )
        for remedy, cause, below in (
            ("name a file in it", "a folder", ()),
            ("make it first, or name a file elsewhere", "no such folder", ("a", "b.db")),
            ("name another file, or remove this one", "a file is there", ("stock.db",)),
            ("name a file elsewhere", "a file system that takes no files", ("/proc", "x.db")),
        )
    ],
    Row("run it with: ", "no run of this package", words("evaluate"), PASTE, program="src.going_further"),
    Row("run it with: ", "not even a database", do(gone, ("report",)), PASTE, program="src.going_further"),
    Row(
        "make a decision first, see: ", "no decision yet", words("log"), PASTE, again=False, program="src.going_further"
    ),
    Row(
        "there are: ",
        "a caller who is not in the file",
        words("call", CALL, "--caller", "x"),
        words("call", CALL, "--caller", "shop-north"),
        program="src.going_further",
    ),
    Row(
        "restore it from the repository or name another file with --callers",
        "half a file of callers",
        do(
            lambda w: w.write("c.json", "{"),
            lambda w: w("call", CALL, "--caller", "x", "--callers", str(w.out / "c.json")),
        ),
        words("call", CALL, "--caller", "shop-north"),
        program="src.going_further",
    ),
    Row(
        "see --help for an example",
        "a call that is not JSON",
        words("call", "x", "--caller", "shop-north"),
        words("call", CALL, "--caller", "shop-north"),
        program="src.going_further",
    ),
]
ROWS = [*OWN, *OURS, *LESSONS, *DATABASE, *DATA, *RUNS, *SETTINGS, *SERVER, *SYSTEM, *EXERCISE]

# Names of the program's constants that hold a remedy, or several.
CONSTANTS = {
    "ADDRESS",
    "ADVICE",
    "AUTHORITY",
    "BROKEN",
    "CONTAINER",
    "CORRECT",
    "FAILED",
    "FRESH",
    "HINTS",
    "LATER",
    "LOCAL",
    "NAME_IT",
    "QUICKSTART",
    "REMEDY",
    "RESTORE",
    "SEE",
    "SPACE",
}
HUB, OFFER = "tests/fetch/test_hub_download.py", "offers another file"
# What the tests of another suite produce: the words by which that suite knows the line.
ELSEWHERE: dict[str, tuple[str, str]] = {
    "see the two digests in": ("tests/survival/test_resume.py", "changed during the run"),
    "nothing was written": ("tests/cli/test_exercise.py", "nothing was written"),
    "finish with": ("tests/survival/test_remembered.py", "finish with: "),
    "it knows its own, so leave": ("tests/survival/test_remembered.py", "it knows its own, so leave"),
    "run the agent first": ("tests/faults/test_remedies.py", "run the agent first"),
    "without a record nothing is answered": (
        "tests/going_further/test_access.py",
        "without a record nothing is answered",
    ),
    "please report this": ("tests/run_sql/test_cli.py", "is not what it was"),
    "ask in other words, or write it yourself, as in": ("tests/run_sql/test_ask.py", "no query was accepted"),
    "use a smaller number": ("tests/measures/test_jobs.py", "use a smaller number"),
    "says so and is no complete run": ("tests/measures/test_conditions.py", "its replies name two of model"),
    "take it away, or let all serve the same": ("tests/measures/test_replicas.py", "is not like the"),
    "in the spreadsheet": ("tests/cli/test_own_shop.py", "in the spreadsheet"),
    "raise the limit (ulimit -u), or start anew with fewer --jobs": ("tests/faults/test_waiting.py", "new thread"),
    "for a private authority set SSL_CERT_FILE to a file with its certificate": (
        "tests/faults/test_waiting.py",
        "does not verify",
    ),
    "start it with: docker compose up -d server (or server-cpu": (
        "tests/cli/test_surroundings.py",
        "start it with: docker compose up -d server",
    ),
    "and a key in LLM_API_KEY": ("tests/cli/test_commands.py", "without_a_word_of_it"),
    "it was deleted": (HUB, "it was deleted"),
    "nothing was put in its place": (HUB, "it was deleted"),
    "it is left as it is: move it away or delete it, then run this command again": (
        HUB,
        "left as it is: move it away",
    ),
    "what was received is kept in": ("tests/cli/test_exits.py", "what was received is kept"),
    "run the same command again to resume": ("tests/cli/test_exits.py", "run the same command again to resume"),
    "look at HF_ENDPOINT, the proxy and the network's login page": (HUB, "did not answer like"),
    "give an http:// address, or unset it": (HUB, "SOCKS needs a package"),
    "nothing was downloaded in its place": (HUB, OFFER),
    "the hub asks to wait": (HUB, "asks to wait"),
    "s, more than the": (HUB, "asks to wait"),
    "s this command waits: run it again then and it resumes": (HUB, "asks to wait"),
    "unset it to download": (HUB, "forbids the network"),
    "not authorised, or no such repository": (HUB, "HTTP 401"),
    "the pinned ones are public: look at HF_TOKEN, HF_ENDPOINT": (HUB, "HTTP 401"),
    "look at HF_TOKEN, HF_ENDPOINT and the proxy": (HUB, "HTTP 403"),
    "no such file at the pinned revision": (HUB, "no such file at the pinned revision"),
    "too many requests": (HUB, "asks to wait"),
    "example: HF_ENDPOINT=https://huggingface.co": (HUB, "HF_ENDPOINT"),
    "name the file of the token, or unset it": (HUB, "HF_TOKEN_PATH"),
    "name a folder, or unset it": (HUB, "HF_HOME"),
    "it pins the hash of": ("tests/fetch/test_wheel_download.py", "is missing"),
    "fetch it with": ("tests/faults/test_remedies.py", "fetch it with: "),
}
