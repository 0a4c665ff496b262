"""What is established about one result before a word is written about it; the filters of the page rest on it."""

from dataclasses import dataclass

from src.base.messages import N_
from src.base.records import Observation, Result
from src.measures import verdicts
from src.runs.results import observed, read_another
from src.wording import check
from src.wording.stated import Judgement

# Filters of the questions, in their order; the keys are those of `evaluation.json` where it counts the same.
FILTERS = {
    "clean": N_("no fault found"),
    "another_product": N_("another product read"),
    "no_marker": N_("published marker missing"),
    **{fault: words for fault, words in verdicts.SHORT.items() if fault != "no_answer"},  # `failed` has these
    "from_observation": N_("replaced"),
    "from_question": N_("answered without a stock"),
    "refused": N_("refused"),
    "failed": N_("failed"),
    "slow": N_("slow (slowest 5 %)"),
}


@dataclass(frozen=True)
class Facts:
    """A result and what follows from it."""

    result: Result
    seen: Observation | None
    other: tuple[str, str] | None  # asked about, and read
    faults: list[str]  # of the model's sentence, keys of `wording.check.FAULTS`
    judgement: Judgement | None  # of the model's sentence
    outcome: str  # a key of `verdicts.OUTCOMES`
    source: str | None  # of the delivered sentence: `Delivered`

    @property
    def clean(self) -> bool:
        """Whether it read correctly, as far as can be known, and no fault was found in the sentence."""
        return self.seen is not None and not self.faults and self.other is None

    def flags(self, slow: bool) -> list[str]:
        """The filters that show this question."""
        answer = self.result["answer"]
        marked = answer is not None and self.seen is not None and check.has_marker(answer["raw"], self.seen)
        is_so = {
            **dict.fromkeys(self.faults, True),
            "clean": self.clean,
            "another_product": self.other is not None,
            "no_marker": not marked,
            "from_observation": self.source == "observation",
            "from_question": self.source == "question",
            "refused": self.outcome == "refused",
            "failed": self.outcome == "failed",
            "slow": slow,
        }
        return [name for name in FILTERS if is_so.get(name)]


def establish(result: Result) -> Facts:
    """Return the facts about a result, in the order in which they follow from one another."""
    seen, answer, given = observed(result), result["answer"], result.get("delivered")
    faults = verdicts.faults(result)
    judgement = None
    if seen is not None and answer is not None:
        judgement = check.judge(answer["raw"], seen, result["trace"][0]["call"]["arguments"]["ref"])
    return Facts(
        result,
        seen,
        read_another(result),
        faults,
        judgement,
        verdicts.outcome(result, faults),
        given["source"] if given else None,
    )
