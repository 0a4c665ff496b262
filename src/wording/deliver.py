"""Guarded wording: the code decides about the sentence too, not only about the call.

It denies by default, as the gate does: only a text that states the observation and nothing else, in words and forms
that a list allows, reaches the customer; otherwise a sentence made from the observation takes its place. The model's
own text stays in `answer` as it was written. One step beyond the tutorial, and off when R3 is reproduced.
"""

from src.base.records import Delivered, Result
from src.wording import check


def deliver(result: Result, language: str) -> Delivered | None:
    """Return what the customer gets: `text`, its `source` (`model` or `observation`) and the `reasons` for a change.

    `None` when nothing was read, since there is nothing to say. A failed second generation loses no observation.
    """
    if not result["trace"]:
        return None
    step, answer = result["trace"][0], result["answer"]
    observation, ref = step["observation"], step["call"]["arguments"]["ref"]
    reasons = check.faults(answer["raw"], observation, ref, answer["finish_reason"]) if answer else ["no_answer"]
    if answer is not None and not reasons:
        return {"text": answer["raw"], "source": "model", "reasons": []}
    return {"text": check.sentence(observation, ref, language), "source": "observation", "reasons": reasons}
