"""What the published marker does not see: what the sentences say, and where the time went.

A separate block beside the four published measures, never mixed with them. Each wording measure names the queries
concerned. A text is compared with the observation; only `marker_differs` looks at the reference record, as R3 does.
"""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

from src.base.messages import N_
from src.base.records import Observation, Result
from src.measures.records import Beyond, Concerned, Times, Wording
from src.runs import provenance
from src.runs.results import read_another
from src.wording import check


def beyond(results: Sequence[Result], records: Sequence[Observation]) -> Beyond:
    """Return the second block: `another_product`, `model` and `delivered` wordings (`None` without guard), `time`.

    `records` holds the reference record of each result's question, in the same order.
    """
    guarded = any("delivered" in result for result in results)
    answers = [(r["answer"]["raw"], r["answer"]["finish_reason"]) if r["answer"] else None for r in results]
    given = [_about_a_product(r) for r in results]
    delivered = _wording(results, records, given, own_marker=True) if guarded else None
    if delivered is not None:
        delivered["from_observation"] = _concerned(_from(results, "observation"))
        delivered["from_question"] = _concerned(_from(results, "question"))
    return {
        "another_product": _concerned(r["id"] for r in results if read_another(r)),
        "model": _wording(results, records, answers),
        "delivered": delivered,
        "time": times(results),
    }


def _about_a_product(result: Result) -> tuple[str, str] | None:
    """The delivered sentence, unless it says that the question gets no stock: then it is about no observation."""
    said = result.get("delivered")
    return (said["text"], "stop") if said and said["source"] != "question" else None


def _from(results: Sequence[Result], source: str) -> list[int]:
    """The ids of the questions whose delivered sentence has this source."""
    return [result["id"] for result in results if (said := result.get("delivered")) and said["source"] == source]


def _wording(
    results: Sequence[Result],
    records: Sequence[Observation],
    texts: Sequence[tuple[str, str | None] | None],
    *,
    own_marker: bool = False,
) -> Wording:
    """Judge one text per question; a question without a text has no wording faults but `no_answer`.

    `own_marker` counts what was delivered by its marker in the reader's language instead of the published one.
    """
    faults: dict[str, list[int]] = {name: [] for name in check.FAULTS}
    weak, whole, only = [], [], []
    for result, record, said in zip(results, records, texts, strict=True):
        ref = result.get("ref") or ""
        marked = said is not None and check.has_marker(said[0], record)
        weak.append(marked or (said is not None and own_marker and check.has_own_marker(said[0], record, ref)))
        whole.append(said is not None and check.holds_figure(said[0], record, ref))
        if not result["trace"] or (own_marker and said is None and result.get("delivered")):
            continue
        if said is None:
            faults["no_answer"].append(result["id"])
            continue
        step = result["trace"][0]
        found = check.faults(said[0], step["observation"], step["call"]["arguments"]["ref"], said[1])
        for name in found:
            faults[name].append(result["id"])
        if not found:
            only.append(result["id"])
    return {
        "texts": sum(said is not None for said in texts),
        "marker_present": round(fmean(weak), 4),
        "whole_number_present": round(fmean(whole), 4),
        "marker_differs": _concerned(r["id"] for r, a, b in zip(results, weak, whole, strict=True) if a != b),
        "observation_only": _concerned(only),
        "faults": {name: _concerned(ids) for name, ids in faults.items()},
    }


def _concerned(ids: Iterable[int]) -> Concerned:
    listed = list(ids)
    return {"count": len(listed), "ids": listed}


def percentile(values: Iterable[float], share: float) -> float:
    """Return the nearest-rank percentile: the smallest value that at least `share` of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def times(results: Sequence[Result]) -> Times:
    """Return p50, p95, the slowest 5 %, and the mean split of the time over the questions that report one."""
    p50, p95 = (percentile((result["seconds"] for result in results), share) for share in (0.5, 0.95))
    splits = [part for part in map(split_ms, results) if part is not None]
    timings = [g["timings"] for r in results for g in (r["proposal"], r["answer"]) if g and "timings" in g]
    generated = sum(timing.get("predicted_n", 0) for timing in timings)
    generation_ms = sum(timing.get("predicted_ms", 0) for timing in timings)
    return {
        "p50_ms": round(1000 * p50, 2),
        "p95_ms": round(1000 * p95, 2),
        "slowest": _concerned(result["id"] for result in results if result["seconds"] >= p95),
        "split_queries": len(splits),
        "split_mean_ms": {name: round(fmean(part[name] for part in splits), 3) for name in SPLIT} if splits else None,
        "generated_tokens_per_second": round(1000 * generated / generation_ms, 2) if generation_ms else None,
        "tokens_from_cache": provenance.tokens_from_cache(results),
    }


# Where the time of a question goes, in this order everywhere; the first two are the server's own figures.
SPLIT = {
    "server_prompt": N_("server, reading the prompts"),
    "server_generation": N_("server, generating"),
    "tool_and_checks": N_("tool and checks"),
    "client_and_transport": N_("client and transport"),
}


def split_ms(result: Result) -> dict[str, float] | None:
    """Return the milliseconds of one question by place, or `None` where a part was not reported or is impossible."""
    proposal, answer = result["proposal"], result["answer"]
    if proposal is None or answer is None:
        return None
    generations = (proposal, answer)
    try:
        asked_ms = 1000 * sum(generation["seconds"] for generation in generations)
        prompt_ms = sum(generation["timings"]["prompt_ms"] for generation in generations)
        generation_ms = sum(generation["timings"]["predicted_ms"] for generation in generations)
    except KeyError:
        return None
    parts = (prompt_ms, generation_ms, 1000 * result["seconds"] - asked_ms, asked_ms - prompt_ms - generation_ms)
    return dict(zip(SPLIT, parts, strict=True)) if min(parts) >= 0 else None
