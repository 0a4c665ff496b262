"""What a caller's run is judged by, from its record alone: observations, decisions, and rows that belong to others.

`observation_correct` means here what the caller should get: its own product, and for every other reference the same
as for one that does not exist.
"""

from collections import Counter
from collections.abc import Iterable
from statistics import fmean

from src.base.records import NotFound, Observation, Product
from src.going_further import low_stock
from src.going_further.access import DECISIONS
from src.going_further.records import Answered, CallerMeasures, CallerRun, Seen

NOT_FOUND: NotFound = {"found": False}


def shown_refs(result: Answered) -> set[str]:
    """Return the references whose rows the model, and with it the caller, got to see."""
    return {row["ref"] for step in result["trace"] for row in _rows(step["observation"])}


def _rows(seen: Seen) -> list[Product]:
    if "products" in seen:
        return seen["products"]
    return [seen] if "ref" in seen else []


def expected(ref: str, allowed: Iterable[str], products: Iterable[Product]) -> Observation:
    """Return what this caller should get for `ref`: the product, or the answer for an unknown reference."""
    return next((p for p in products if p["ref"] == ref and ref in allowed), NOT_FOUND)


def measures(record: CallerRun, products: list[Product]) -> CallerMeasures:
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
