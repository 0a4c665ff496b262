"""Compare the three runs of .ci/swarm.sh: `python .ci/swarm_compare.py OUTPUTS`.

In OUTPUTS the run over two replicas, in `one` the same with one replica, in `alone` one question at a time. What was
proposed, read and answered must be the same; the ratio of the first two is printed and not judged.
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from src.measures import compare


def questions_a_second(run: dict[str, Any]) -> float:
    """All workers are busy to the end, near enough: each has spent its share of the questions' seconds."""
    return len(run["results"]) * run["provenance"]["jobs"] / sum(result["seconds"] for result in run["results"])


def main() -> int:
    """Print what differs and the figures; status 1 for an error in a result or a difference."""
    folder = Path(sys.argv[1])
    two, one, alone = (
        json.loads((folder / part / "agent.json").read_text(encoding="utf-8")) for part in ("", "one", "alone")
    )
    errors = [result["error"] for run in (two, one, alone) for result in run["results"] if result["error"] is not None]
    changed = compare.changed([alone, two, one])
    rates = [questions_a_second(run) for run in (two, one, alone)]
    print(f"{len(two['results'])} questions, {len(errors)} errors, {len(changed)} answered differently")
    print("questions/s: two replicas {:.2f}, one replica {:.2f}, one at a time {:.2f}".format(*rates))
    print(f"two replicas against one: {rates[0] / rates[1]:.2f} times the questions")
    for item in [*errors, *changed]:
        print(item)
    return 1 if errors or changed else 0


if __name__ == "__main__":
    sys.exit(main())
