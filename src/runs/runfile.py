"""The results of a run, as `agent.json` and its journal hold them, checked before anything is computed from them.

The files are in a folder that others may write to: a damaged or foreign one is a missing precondition.
Not detected: plausible results that somebody wrote by hand.
"""

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, cast

from src.base.errors import Precondition
from src.base.paths import ROOT
from src.base.printable import excerpt
from src.base.records import JsonValue, Question, Result
from src.runs import catalog, store
from src.runs.outputs import Outputs
from src.runs.records import HostileFile, Run, Shop

if TYPE_CHECKING:
    import jsonschema

SCHEMA = ROOT / "configs" / "agent.schema.json"


@functools.cache
def _rules(part: str, any_call: bool = False) -> "jsonschema.protocols.Validator":
    import jsonschema  # slow to import; only the commands that read results pay for it

    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    if any_call:
        del schema["$defs"]["result"]["properties"]["trace"]["items"]["properties"]["call"]
    return jsonschema.Draft202012Validator({"$ref": f"#{part}", "$defs": schema["$defs"], "whole": schema})


def is_result_of(result: JsonValue, question: Question) -> TypeGuard[Result]:
    """Whether `result` is the finished result of exactly this question."""
    return _rules("/$defs/result").is_valid(result) and _answers(cast(Result, result), question)


def _answers(result: Result, question: Question) -> bool:
    return question.items() <= result.items()


def read(path: Path, if_missing: str, any_call: bool = False) -> Run:
    """Return the run in an `agent.json`; `Precondition` ends with `if_missing`, the remedy, when there is none.

    With `any_call` the calls in the traces may be anything: for a caller that judges them.
    """
    found = store.read_json(path, if_missing)
    fault = next(iter(_rules("/whole", any_call).iter_errors(found)), None)
    if fault is not None:
        raise Precondition(f"{path} does not hold a run: {fault.json_path}: {excerpt(fault.message)}; {if_missing}")
    run = cast(Run, found)
    identifiers = [result["id"] for result in run["results"]]
    if len(set(identifiers)) != len(identifiers):
        raise Precondition(f"{path} does not hold a run: a question has two results; {if_missing}")
    return run


def remedy(outputs: Outputs) -> str:
    """How to come to an `agent.json` with results."""
    if outputs.journal.exists():
        return f"finish the interrupted run with: {outputs.command('agent', '--resume')}"
    first = "" if outputs.database.exists() else f"{outputs.command('prepare')} && "
    return f"run the questions first with: {first}{outputs.command('agent')}"


def load(outputs: Outputs, data: Path, content: Shop | HostileFile, any_call: bool = False) -> Run:
    """Return what `read` returns for `agent.json`; also refuses a run that was made from other data than `data`.

    `content` is what the catalogue at `data` holds: every result must be that of one of its questions, since later
    steps look its reference up.
    """
    path = outputs.json("agent")
    run = read(path, remedy(outputs), any_call)
    origin = run["provenance"]["data"]
    if origin != catalog.origin(data):
        raise Precondition(
            f"{path} was made from {excerpt(origin['file'])} ({origin['sha256'][:8]}), not from {data} as it is now; "
            "name the file of that run with --data, or run the questions again"
        )
    if not run["results"]:
        raise Precondition(f"{path} holds no result; {remedy(outputs)}")
    asked = {q["id"]: q for q in catalog.questions(content, run["provenance"]["language"])}
    for result in run["results"]:
        if result["id"] not in asked or not _answers(result, asked[result["id"]]):
            raise Precondition(
                f"{path} does not hold a run: question {result['id']} is not one of {data}; {remedy(outputs)}"
            )
    return run
