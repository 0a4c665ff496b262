"""What a caller's run is judged by, from its record alone: the observations, the decisions, and rows of others.

`observation_correct` means here what the caller should get: its own product, and for every other reference the same
as for one that does not exist.
"""

from collections import Counter
from collections.abc import Iterable
from statistics import fmean
from typing import Any

from src.base.records import NotFound, Observation, Product
from src.going_further import low_stock
from src.going_further.access import DECISIONS

Result = dict[str, Any]
NOT_FOUND: NotFound = {"found": False}


def shown_refs(result: Result) -> set[str]:
    """Return the references whose rows the model, and with it the caller, got to see."""
    seen = [step["observation"] for step in result["trace"]]
    return {row["ref"] for one in seen for row in one.get("products", [one]) if "ref" in row}


def expected(ref: str, allowed: Iterable[str], products: Iterable[Product]) -> Observation:
    """Return what this caller should get for `ref`: the product, or what an unknown reference gives."""
    return next((p for p in products if p["ref"] == ref and ref in allowed), NOT_FOUND)


def measures(record: dict[str, Any], products: list[Product]) -> dict[str, Any]:
    """Return the measures of a run; `rows_of_others` lists the questions that showed a row outside the rights."""
    results, allowed = record["results"], set(record["caller"]["references"])
    right = [[s["observation"] for s in r["trace"]] == [expected(r["ref"], allowed, products)] for r in results]
    decided = Counter(r["decision"] for r in results)
    return {
        "queries": len(results),
        "observation_correct": round(fmean(right), 4),
        "decisions": {name: decided[name] for name in DECISIONS},
        "third_tool": sum(low_stock.names_it(step["call"]) for r in results for step in r["trace"]),
        "rows_of_others": [r["id"] for r in results if shown_refs(r) - allowed],
        "errors": sum(r["error"] is not None for r in results),
        "mean_ms": round(1000 * fmean(r["seconds"] for r in results), 2),
    }
