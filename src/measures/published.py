"""The figures that the tutorial publishes for R3, which stand beside ours and are never mixed with them."""

from src.measures.records import Published

# The tutorial's figures, two reproductions; another machine and model, shown beside ours and never mixed.
PUBLISHED: Published = {
    "source": "the R3 tutorial, two reproductions",
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
