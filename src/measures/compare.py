"""Two runs side by side, question by question, if they can be compared at all.

They may when what was asked, of whom and on which machine is the same: model, server, settings, language, data,
database, questions in flight. Prompts, schema, SELECT and program may differ and are named: finding what their change
did is what this is for.
"""

from collections.abc import Sequence
from pathlib import Path

from src.base.errors import Precondition
from src.base.records import Observation, Result
from src.measures.records import Change, Changes, Stage
from src.runs import runfile
from src.runs.differences import differing, listed
from src.runs.records import Run

# Parts of the provenance that two comparable runs share. `guard_answers` is not one: the model's text is the same.
SAME = ("server", "generation", "language", "data", "database", "jobs", "platform", "cpu")
NOTED = ("prompts", "schema", "read", "code", "program", "python", "sqlite", "guard_answers", "wording", "time")
REMEDY = "name a folder of results or its agent.json with --against"


def load(path: Path) -> tuple[Run, Path]:
    """Return the run that `--against` names, a folder of results or its `agent.json`, and the folder.

    Raises `Precondition` when there is none.
    """
    file = path / "agent.json" if path.is_dir() else path
    return runfile.read(file, REMEDY), file.parent


def against(run: Run, other: Run, name: str) -> Changes:
    """Return what changed from `other` to `run`: `notes` (what differs without forbidding it) and `changed` questions.

    Raises `Precondition` naming each condition that differs.
    """
    here, there = run["provenance"], other["provenance"]
    found = differing(there, here, SAME)
    if different := [*([listed(found)] if found else []), *_incomplete(run, other)]:
        raise Precondition(f"these runs cannot be compared: {'; '.join(different)}")
    return _changes(run, other, name, NOTED)


def beside(run: Run, other: Run, name: str) -> Changes:
    """Return the same for two runs under any conditions, all of them in `notes`: for a reader, not for a measure.

    Raises `Precondition` when one is not complete, or the references asked about are not the same.
    """
    if different := _incomplete(run, other, in_one_language=False):
        raise Precondition(f"these runs cannot be put side by side, since not alike: {'; '.join(different)}; {REMEDY}")
    return _changes(run, other, name, (*SAME, *NOTED))


def _changes(run: Run, other: Run, name: str, noted: Sequence[str]) -> Changes:
    notes = {name: [then, now] for name, then, now in differing(other["provenance"], run["provenance"], noted)}
    return {"run": name, "notes": notes, "questions": len(run["results"]), "changed": changed([other, run])}


def _incomplete(run: Run, other: Run, *, in_one_language: bool = True) -> list[str]:
    sides = [where for where, side in (("there", other), ("here", run)) if not side["complete"]]
    if sides:
        return [f"the run {where} is not complete" for where in sides]
    asked = [[_asked(result, in_one_language) for result in side["results"]] for side in (run, other)]
    return [] if asked[0] == asked[1] else ["the questions"]


def _asked(result: Result, in_one_language: bool) -> tuple[int, str | None, str | None]:
    """What a question is known by: in two languages its text differs, and its reference does not."""
    ref = result.get("ref")
    return result["id"], ref, result["query"] if in_one_language or ref is None else None


def changed(runs: Sequence[Run]) -> list[Change]:
    """Return the questions whose results differ between the runs: their `id`, and per stage what each run says."""
    found = []
    for results in zip(*(run["results"] for run in runs), strict=True):
        change: Change = {"id": results[0]["id"]}
        outcomes = [_said(result) for result in results]
        for stage in outcomes[0]:
            said = [outcome[stage] for outcome in outcomes if stage in outcome]
            if len(said) == len(outcomes) and any(text != said[0] for text in said):
                change[stage] = said
        if len(change) > 1:
            found.append(change)
    return found


def _said(result: Result) -> dict[Stage, str | Observation | None]:
    """The outcome of a question, without its times; `delivered` in a guarded run only."""
    said: dict[Stage, str | Observation | None] = {
        "proposal": result["proposal"] and result["proposal"]["raw"],
        "observation": result["trace"][0]["observation"] if result["trace"] else None,
        "answer": result["answer"] and result["answer"]["raw"],
        "error": result["error"],
    }
    if "delivered" in result:
        said["delivered"] = result["delivered"] and result["delivered"]["text"]
    return said
