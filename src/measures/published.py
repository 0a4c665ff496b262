"""The figures that the tutorial publishes for R3, which stand beside ours and are never mixed with them; and what of a
run's request is not R3's.
"""

import hashlib
from collections.abc import Mapping

from src.base.messages import N_
from src.base.printable import dumps
from src.measures.records import Published

# SHA-256 of what R3 sends and reads, as JSON on one line; the texts, which a reader may edit, are in src/agent.py and
# src/tools.py.
R3 = {
    "prompts": "c8d1a4bb5a18078bd6c04a8dc22ad670f127723151150537ed8405f7c73f238f",
    "schema": "54801569724a779197accb9fafbb7cb4017a1bd4c479765026dc066c97823478",
    "read": "be03d83f65d41be1fd23d35776389d383fa314f6b0487ec02b46f471972e31eb",
}

# The tutorial's figures, two reproductions; another machine and model, shown beside ours and never mixed.
PUBLISHED: Published = {
    "source": N_("the R3 tutorial, two reproductions"),
    "model": "Qwen2.5-7B-Instruct Q4_K_M",
    "machine": "RTX 3090",
    "runs": [
        {
            "queries": 30,
            "observation_correct": 1.0,
            "answer_marker_present": 0.9667,
            "errors": 0,
            "mean_ms": 247.34,
        },
        {
            "queries": 30,
            "observation_correct": 1.0,
            "answer_marker_present": 0.9667,
            "errors": 0,
            "mean_ms": 247.41,
        },
    ],
}


def not_r3(conditions: Mapping[str, object]) -> list[str]:
    """Name what of prompts, schema and SELECT is not R3's in a run; what a run does not record is not judged."""
    recorded = {name: conditions[name] for name in R3 if name in conditions}
    return [name for name, value in recorded.items() if hashlib.sha256(dumps(value).encode()).hexdigest() != R3[name]]
