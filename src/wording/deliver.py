"""Guarded wording: the code decides about the sentence too, not only about the call.

An answer with a fault is not what the customer gets; a sentence made from the observation takes its place. The model's
own text stays in `answer` as it was written. One step beyond the tutorial, and off when R3 is reproduced.
"""

from src.base.records import Delivered, Generation, Language, Observation, Result
from src.wording import check


def deliver(result: Result, language: Language) -> Delivered | None:
    """Return what the customer gets: `text`, its `source` (`model` or `observation`) and the `reasons` for a change.

    `None` when nothing was read, since there is nothing to say. A failed second generation loses no observation.
    """
    if not result["trace"]:
        return None
    step, answer = result["trace"][0], result["answer"]
    observation, ref = step["observation"], step["call"]["arguments"]["ref"]
    reasons = faults(answer, observation, ref)
    if answer is not None and not reasons:
        return {"text": answer["raw"], "source": "model", "reasons": []}
    return {"text": check.sentence(observation, ref, language), "source": "observation", "reasons": reasons}


def faults(answer: Generation | None, observation: Observation, ref: str) -> list[str]:
    """Return the faults of a generated answer, `check.FAULTS`, and with a missing answer only that."""
    if answer is None:
        return ["no_answer"]
    found = check.faults(answer["raw"], observation, ref, answer["finish_reason"])
    # The figure in other digits or with separators is right, but the published marker would not see it.
    if check.marker(observation) not in answer["raw"] and "figure_missing" not in found:
        found.append("figure_missing")
    return found
