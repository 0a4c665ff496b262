"""Check what the tutorial's commands left behind: `python .ci/check_outputs.py FOLDER OWNER_ID LOG`.

FOLDER is the copy of the project they ran in, LOG what they printed. One line for each claim; status 1 at the first
that does not hold.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

QUESTIONS = 30
RESULTS = ("stock.db", "prepare.json", "agent.json", "negatives.json", "evaluation.json", "exercise.json")
REFUSED = {"malformed call": 5, "call budget": 1, "SQLite write": 1}
EXERCISE = [{"ref": "REF-000", "name": "Produit 0", "stock": 0}, {"found": False}, None]


def claims(project: Path, owner: int, log: str) -> Iterator[tuple[str, bool]]:
    """Yield each claim of the tutorial with whether it holds."""
    outputs = project / "outputs"
    read: dict[str, Any] = {
        name: json.loads((outputs / name).read_text()) for name in RESULTS if name.endswith(".json")
    }
    yield "the 14 public tests passed in the container", bool(re.search(r"Ran 14 tests in .*\n+OK\n", log))
    owners = {path.stat().st_uid for path in outputs.iterdir() if path.name != ".gitkeep"}
    yield f"every file in outputs/ belongs to user {owner}", owners == {owner}
    left = sorted(path.name for path in outputs.iterdir() if path.name not in (*RESULTS, ".gitkeep"))
    print(f"also in outputs/: {', '.join(left) or 'nothing'}")
    agent, digest = read["agent.json"], read["prepare.json"]["digest"]
    yield "agent.json has 30 results, complete", len(agent["results"]) == QUESTIONS and agent["complete"]
    yield "the database's digest never changed", digest == agent["digest_before"] == agent["digest_after"]
    measures = read["evaluation.json"]["measures"]
    yield (
        "30 of 30 observations are correct",
        (measures["queries"], measures["observation_correct"]) == (QUESTIONS, 1.0),
    )
    yield "no question ended in an error", measures["errors"] == 0
    kinds = Counter(check["kind"] for check in read["negatives.json"]["checks"] if check["refused"])
    yield "7 attempts refused: 5 calls, the budget, the write", kinds == REFUSED and read["negatives.json"]["unchanged"]
    observations = [step["observation"] for step in read["exercise.json"]["steps"]]
    yield "the exercise shows stock 0, not found, refused", observations == EXERCISE
    yield "no half-written file is left", not [path for path in outputs.rglob("*") if path.suffix in (".tmp", ".part")]
    yield "models/ holds no partial file", not list((project / "models").glob("*.part"))


def main() -> int:
    """Print the claims; status 1 when one does not hold."""
    project, owner, log = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]).read_text(errors="replace")
    for claim, holds in claims(project, owner, log):
        print(f"{'ok  ' if holds else 'FAIL'} {claim}")
        if not holds:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
