"""The figures that the tutorial publishes for R3, which stand beside ours and are never mixed with them; and what of a
run's request is not R3's.
"""

import hashlib
from collections.abc import Mapping

from src.base.messages import N_
from src.base.printable import dumps
from src.measures.records import Published
from src.runs.records import DataFile

# SHA-256 of what R3 sends and reads, as JSON on one line, and of its data file; the texts, which a reader may edit, are
# in src/agent.py and src/tools.py.
R3 = {
    "prompts": "c8d1a4bb5a18078bd6c04a8dc22ad670f127723151150537ed8405f7c73f238f",
    "schema": "54801569724a779197accb9fafbb7cb4017a1bd4c479765026dc066c97823478",
    "data": "c31679d49d7a207f04a2bf1e695df13b6231c75a97e0855be4b729f509d57251",  # data/products.json
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
    """Name what of prompts, schema, SELECT and data is not R3's in a run; what a run does not record is not judged."""
    return [name for name in R3 if name in conditions and _digest(conditions[name]) != R3[name]]


def _digest(recorded: object) -> object:
    """The SHA-256 of what a run recorded, which of a file is the digest itself."""
    if isinstance(recorded, dict) and recorded.keys() == DataFile.__annotations__.keys():
        return recorded["sha256"]
    return hashlib.sha256(dumps(recorded).encode()).hexdigest()
