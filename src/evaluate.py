"""`evaluate`: what the tutorial publishes about a run, measured on ours.

A correct observation does not make a correct sentence: the two are measured separately. The published marker is weak on
purpose (the stock number anywhere in the answer, without case and in one Unicode form); it says nothing about the rest
of the sentence.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

from src.base.errors import Precondition
from src.base.records import NotFound, Observation, Product, Result
from src.measures import beyond, compare
from src.measures.published import PUBLISHED
from src.measures.records import Comparison, Evaluation, Measures
from src.runs import catalog, provenance, runfile, store
from src.runs.outputs import Outputs
from src.runs.records import Run
from src.runs.results import observed
from src.wording.check import has_marker

NOT_FOUND: NotFound = {"found": False}


def references(results: Iterable[Result], products: Iterable[Product]) -> list[Observation]:
    """Return what a correct read of each result's question gives: the product, or `{"found": False}` for REF-999."""
    records: dict[str, Observation] = {product["ref"]: product for product in products}
    return [records.get(result["ref"], NOT_FOUND) for result in results]


def evaluate(results: Sequence[Result], products: Sequence[Product]) -> Measures:
    """Return the published measures of a run: shares between 0 and 1, `errors` as a count, `mean_ms` per question.

    Raises `Precondition` when there is nothing to measure.
    """
    if not results:
        raise Precondition("there is no result to evaluate; run the agent first")
    records = references(results, products)
    pairs = list(zip(results, records, strict=True))
    return {
        "queries": len(results),
        "observation_correct": _share(observed(result) == record for result, record in pairs),
        "answer_marker_present": _share(
            result["answer"] is not None and has_marker(result["answer"]["raw"], record) for result, record in pairs
        ),
        "errors": sum(result["error"] is not None for result in results),
        "mean_ms": round(1000 * fmean(result["seconds"] for result in results), 2),
    }


def _share(checks: Iterable[bool]) -> float:
    return round(fmean(checks), 4)  # four digits, as published


def evaluate_run(outputs: Outputs, data: Path, other: Path | None = None) -> tuple[Path, Evaluation]:
    """Measure `agent.json`, compare it with the run in `other` if there is one, and write `evaluation.json`.

    Returns its path and content. Raises `Precondition` when a run is missing, damaged, made from another data file, or
    not comparable with `other`; nothing is written then.
    """
    shop = catalog.shop(data)
    run = runfile.load(outputs, data, shop)
    products = shop["products"]
    result: Evaluation = {
        "provenance": {**provenance.program(), "run": run["provenance"]},
        "complete": run["complete"],
        "unchanged": run["unchanged"],
        "measures": evaluate(run["results"], products),
        "published": PUBLISHED,
        "beyond": beyond.beyond(run["results"], references(run["results"], products)),
        "against": _against(run, other, products),
    }
    if "mixed" in run:
        result["mixed"] = run["mixed"]
    return store.write_json(outputs.json("evaluation"), result), result


def _against(run: Run, other: Path | None, products: Sequence[Product]) -> Comparison | None:
    if other is None:
        return None
    there, folder = compare.load(other)
    compared = compare.against(run, there, folder.resolve().name)
    return {**compared, "measures": evaluate(there["results"], products)}
