"""`exercise`: the tutorial's three questions as a lesson: predict, observe, compare; no model server is needed.

On a terminal each prediction is asked for before its observation is made; elsewhere the question, its options and the
expected outcome are shown. The texts are in data/exercise.json, in four languages; calls and refusals are the program's
own and stay in French, with what a refusal says in brackets.
"""

import sqlite3
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from src.base.errors import CheckFailed, Interrupted, Precondition, interruption
from src.base.layout import wrapped
from src.base.paths import ROOT, near
from src.base.printable import dumps, excerpt, storable
from src.base.records import Call, Language
from src.commands.records import Exercise, Lesson, Observed, Prompt, Step
from src.runs import database, examples, provenance, results, store
from src.runs.outputs import Outputs
from src.tools import TOOLS, digest, toolcall

TEXTS = near(ROOT / "data" / "exercise.json")
EXPECTED = ("found", "not_found", "gate")
OPTIONS = ({"found", "not_found", "refused"},) * 2 + ({"prompt", "schema", "gate", "database"},)
SHOWN = ("call", "expected", "observation", "sql", "compared", "why")  # the labels in front of a line
LABELS = {*SHOWN, "ask", "again", "refused", "none", "same", "different", "open", "next"}
TRIES = 3  # invalid answers to one question; after that it is left open

Ask = Callable[[str], str]
Say = Callable[[str], object]


def texts(language: Language, path: Path = TEXTS) -> Lesson:
    """Return the lesson's texts in one language; `Precondition` when the file lacks some of them."""
    remedy = "restore it from the repository"
    made: Any = store.read_json(path, remedy)
    try:
        lesson = made[language]
        whole = (
            {name for name, label in lesson["labels"].items() if type(label) is str} == LABELS
            and [set(step["options"]) for step in lesson["steps"]] == [*OPTIONS]
            and all(type(step[key]) is str for step in lesson["steps"] for key in ("question", "why"))
        )
    except (KeyError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise Precondition(f"{path}: the texts in {language!r} are not complete; {remedy}")
    return cast(Lesson, lesson)


def exercise(
    outputs: Outputs, cases: Sequence[object], say: Say, ask: Ask | None = None, language: Language = "en"
) -> tuple[Path, Exercise]:
    """Put REF-000, REF-999 and the first of `cases` that names no tool of ours through the gate; compare each.

    In a reader's own shop the first is another product out of stock, and the second another reference without one.
    `say` receives the lesson line by line; `ask` asks for each prediction, if somebody is there to make one. Returns
    the file written and its content, for `check` to look at. Raises `Precondition` when there is no such call,
    `Interrupted` when the reader leaves, before writing.
    """
    lesson, unlisted = texts(language), _unlisted(cases)
    steps: list[Step] = []
    with database.opened(outputs) as db:
        for place, call in enumerate((*_asked(outputs, db), unlisted)):
            text, shown = lesson["steps"][place], storable(call)
            question = text["question"].replace("{outil}", _tool_of(call)).replace("{ref}", _ref_of(call))
            say(wrapped(question, f"{place + 1}. "))
            _line(lesson, say, "call", dumps(shown))
            _offer(text, say)
            predicted = _predicted(lesson, place, say, ask) if ask is not None else None
            steps.append(
                {
                    "question": question,
                    "call": shown,
                    "expected": EXPECTED[place],
                    "prediction": predicted,
                    **put_through(db, call, EXPECTED[place]),
                }
            )
            _show(lesson, text, steps[-1], say, ask is not None, language)
    say(wrapped(lesson["labels"]["next"], rest="  "))
    record: Exercise = {
        "provenance": provenance.program(),
        "digest": digest(outputs.database),
        "language": language,
        "steps": steps,
    }
    return store.write_json(outputs.json("exercise"), record), record


def check(path: Path, record: Exercise) -> None:
    """Raise `CheckFailed` when an outcome in the record is not the expected one; `path` is the record's."""
    if surprises := [step["call"] for step in record["steps"] if step["outcome"] != step["expected"]]:
        raise CheckFailed(f"the outcome of {dumps(surprises[0])} is not the expected one; see {path}")


def _asked(outputs: Outputs, db: sqlite3.Connection) -> tuple[Call, Call]:
    """Return the calls of the first two questions: REF-000 and REF-999 in R3's shop, their like in another."""
    stocks = database.stocks(db)
    zero = next((ref for ref, stock in stocks.items() if stock == 0), None)
    unknown = examples.unused(stocks)
    if zero is None or unknown is None:
        lacking = "product out of stock" if zero is None else "reference without a product"
        r3 = Outputs(outputs.folder / "r3")
        raise Precondition(
            f"{outputs.database} has no {lacking}, which the exercise is about; do it with R3's shop: "
            f"{r3.command('prepare')} && {r3.command('exercise')}"
        )
    return {"outil": TOOLS[1], "arguments": {"ref": zero}}, {"outil": TOOLS[1], "arguments": {"ref": unknown}}


def _unlisted(cases: Sequence[object]) -> object:
    """The first case that names an unlisted tool, wherever the reader put it; else the first, to show its outcome."""
    if not cases:
        raise Precondition("`cases` in src/cli.py is empty; put a call of the tool `delete` back")
    named = (case for case in cases if isinstance(case, dict) and "outil" in case)
    return next((case for case in named if case["outil"] not in list(TOOLS)), cases[0])


def _tool_of(call: object) -> str:
    """The name that the third question asks about: `delete` as in the tutorial, or what the reader put there."""
    name = call.get("outil") if type(call) is dict else None
    return excerpt(name) if type(name) is str else "delete"


def _ref_of(call: object) -> str:
    """The reference that a question is about; the third question names none."""
    found = call.get("arguments") if type(call) is dict else None
    return str(found.get("ref")) if type(found) is dict else ""


def reader() -> Ask | None:
    """Return a way to ask the person at the terminal, or `None` unless both input and output are a terminal."""
    return _typed if sys.stdin.isatty() and sys.stdout.isatty() else None


def _typed(prompt: str) -> str:
    """Ask on stdout (`input()` would put the prompt on stderr) and return the line; `EOFError` when there is none."""
    print(prompt, end="", flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def put_through(db: sqlite3.Connection, call: object, expected: str) -> Observed:
    """Make the call; `sql` holds the statements that SQLite ran for it, if it was reached at all."""
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    try:
        observation = toolcall(db, call)
    except ValueError as exc:
        outcome = "gate" if expected == "gate" and not statements else "refused"
        return {"observation": None, "refusal": str(exc), "sql": statements, "outcome": outcome}
    return {"observation": observation, "sql": statements, "outcome": "found" if "ref" in observation else "not_found"}


def _offer(text: Prompt, say: Say) -> None:
    for number, option in enumerate(text["options"].values(), 1):
        say(wrapped(option, f"     {number}  "))


def _predicted(lesson: Lesson, place: int, say: Say, ask: Ask) -> str | None:
    """Return the option that the reader chooses, or `None` when the question is left open."""
    options, labels = lesson["steps"][place]["options"], lesson["labels"]
    codes = {str(number): code for number, code in enumerate(options, 1)}
    try:
        for _ in range(TRIES):
            typed = ask(f"   {labels['ask'].format(count=len(codes))}").strip()
            if not typed or typed in codes:
                return codes.get(typed)
            say(f"   {labels['again'].format(count=len(codes))}")
    except (EOFError, KeyboardInterrupt) as exc:
        say("")  # the cursor is still on the line of the prompt
        how = interruption(exc) if isinstance(exc, KeyboardInterrupt) else "interrupted"
        raise Interrupted(f"{how} at question {place + 1} of {len(EXPECTED)}; nothing was written") from None
    return None


def _show(lesson: Lesson, text: Prompt, step: Step, say: Say, asked: bool, language: Language) -> None:
    labels, options, predicted = lesson["labels"], text["options"], step["prediction"]
    if not asked:
        _line(lesson, say, "expected", options[step["expected"]])
    refused = step["observation"] is None
    seen = (
        labels["refused"].format(reason=results.explained(step["refusal"], language))
        if refused
        else dumps(step["observation"])
    )
    _line(lesson, say, "observation", seen)
    _line(lesson, say, "sql", "; ".join(map(excerpt, step["sql"])) or labels["none"])
    if asked and predicted is None:
        _line(lesson, say, "compared", labels["open"].format(text=options[step["expected"]]))
    elif predicted is not None:
        verdict = "same" if predicted == step["outcome"] else "different"
        right = options.get(step["outcome"], seen)  # after an edit of `cases` the outcome may be none of the options
        _line(lesson, say, "compared", labels[verdict].format(text=options[predicted], right=right))
    _line(lesson, say, "why", text["why"])


def _line(lesson: Lesson, say: Say, name: str, text: str) -> None:
    width = max(len(lesson["labels"][each]) for each in SHOWN)
    say(wrapped(text, f"   {lesson['labels'][name]:<{width}}  "))
