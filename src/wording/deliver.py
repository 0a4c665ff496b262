"""Guarded wording: the code decides about the sentence too, not only about the call.

It denies by default, as the gate does: only a text that states the observation and nothing else, in words and forms
that a list allows, reaches the customer; otherwise a sentence made from the observation takes its place. And a customer
gets a stock only of the product that the question names. The model's own text stays in `answer` as it was written. One
step beyond the tutorial, and off when R3 is reproduced.
"""

from src.base.records import Delivered, Result
from src.wording import asked, check

REASONS = {**check.FAULTS, **asked.MISMATCHES}  # why a customer does not get the model's own sentence, for a person


def deliver(result: Result, language: str) -> Delivered | None:
    """Return what the customer gets: `text`, its `source` (`model`, `observation`, `question`), `reasons` for a change.

    `question`: what was read does not answer it (`asked.mismatch`), and the text says so, without the observation.
    `None` when nothing was read, since there is nothing to say. A failed second generation loses no observation.
    """
    if not result["trace"]:
        return None
    step, answer = result["trace"][0], result["answer"]
    observation, ref = step["observation"], step["call"]["arguments"]["ref"]
    if (why := asked.mismatch(result["query"], ref, observation)) is not None:
        return {
            "text": check.about_the_question(why, result["query"], language),
            "source": "question",
            "reasons": [why],
        }
    reasons = check.faults(answer["raw"], observation, ref, answer["finish_reason"]) if answer else ["no_answer"]
    if answer is not None and not reasons:
        return {"text": answer["raw"], "source": "model", "reasons": []}
    return {"text": check.sentence(observation, ref, language), "source": "observation", "reasons": reasons}
