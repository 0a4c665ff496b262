"""Whether a text states the observation and nothing else: it denies by default, as the gate does for a call.

Every clause must be a form that `data/wording` allows for the state, all of them in one language, and one of them must
state the observation. What no list allows is marked. It does not know the question: `Yes, …` is taken at face value.
"""

from dataclasses import dataclass

from src.base.records import Observation
from src.wording import clauses as reading
from src.wording.grammar import FIGURE, TERMINALS
from src.wording.lists import SAID, Language, State, languages

Span = tuple[int, int]  # start and end in a text


@dataclass(frozen=True)
class Judgement:
    """What the lists say of a text: `language` is the one that allows it, or the one that allows most of it."""

    language: str | None  # None: fewer than half of its words are on the lists of any language
    states: bool  # the observation and nothing else
    refused: tuple[Span, ...]  # the words that are on no list, and the clauses of listed words that have no form


def state_of(observation: Observation) -> str:
    """Return the state that an observation is in: `stock` (above 0), `zero` or `unknown`."""
    if "stock" not in observation:
        return "unknown"
    return "stock" if observation["stock"] else "zero"


def judge(text: str, observation: Observation, ref: str) -> Judgement:
    """Check a text against the lists of each language, and stop at the first that allows all of it."""
    name, stock = (observation.get("name", ""), observation["stock"]) if "stock" in observation else ("", None)
    found = reading.clauses(text, ref, name, stock)
    state = state_of(observation)
    tried: list[tuple[int, Language, tuple[Span, ...]]] = []
    for language in languages():
        unlisted, formless, says = _refused(found, language, language.states[state])
        if says and not unlisted and not formless:
            return Judgement(language.name, True, ())
        tried.append((len(unlisted), language, tuple(sorted(unlisted + formless))))
    _, nearest, refused = min(tried, key=lambda each: each[0])
    spoken = [word for clause in found for word in clause.words if word[0].isalpha() and word not in TERMINALS]
    known = sum(word in nearest.words for word in spoken)
    return Judgement(nearest.name if 2 * known >= len(spoken) else None, False, refused)


def _refused(found: list[reading.Clause], language: Language, state: State) -> tuple[list[Span], list[Span], bool]:
    """Return the words on no list, the clauses of listed words without a form, and whether a clause says it."""
    unlisted: list[Span] = []
    formless: list[Span] = []
    says = False
    grouped = FIGURE + language.thousands
    for clause in found:
        words = [FIGURE if word == grouped else word for word in clause.words]
        strange = [
            span
            for word, span in zip(words, clause.spans, strict=True)
            if word not in state.words and word not in TERMINALS
        ]
        unlisted += strange
        if strange:
            continue
        place = state.follow(words)
        if place is None or not place.is_end:
            formless.append((clause.spans[0][0], clause.spans[-1][1]))
        elif SAID in place.after:
            says = True
    return unlisted, formless, says
