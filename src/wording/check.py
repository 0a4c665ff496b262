"""What is wrong with a sentence about an observation, and the plain sentence that says the observation itself.

The model words what the tool read; the code decides whether the text states that and nothing else (`stated`, denies by
default), and names what is wrong where it does not. Pure functions: a text and a record in, names of faults out.
Not covered: whether the question was understood, and irony.
"""

import re
import unicodedata

from src.base.messages import N_
from src.base.records import Observation
from src.wording import asked, clauses, figures, lists, stated

LONGEST = 20_000  # characters that are judged; 100 tokens are never that long, so a longer text counts as cut
NOT_FOUND_MARKER = "introuvable"  # the word that the second system prompt asks for, in every language
FALLBACK = "en"  # the plain sentence of a language that has no page

# The name of each fault, and its words for a person; in this order everywhere.
FAULTS = {
    "no_answer": N_("no answer: the second generation failed"),
    "cut": N_("cut by the token limit"),
    "figure_missing": N_("lacks the observed result"),
    "unsupported_number": N_("brings in another number"),
    "zero_as_not_found": N_("stock 0 described as not found"),
    "stock_as_not_found": N_("stock above 0 described as not found"),
    "stock_as_none": N_("stock above 0 described as out of stock"),
    "not_found_as_stock": N_("unknown product described as a stock"),
    "not_listed": N_("words or a form that no list allows"),
    "no_lists": N_("a language without lists"),
}


def marker(observation: Observation) -> str:
    """Return the text that the published measure looks for: the stock number, or `introuvable`."""
    return str(observation["stock"]) if "stock" in observation else NOT_FOUND_MARKER


def has_marker(text: str, observation: Observation) -> bool:
    """Whether `text` holds the published marker, whatever its case and Unicode form: `Introuvable.` does."""
    return _plain(marker(observation)) in _plain(text)


def has_own_marker(text: str, observation: Observation, ref: str) -> bool:
    """Whether a delivered text holds its marker: the published one, or a listed way to state the observation.

    So `1,234 units` does, and `REF-999 does not exist.`: what is delivered is in the reader's language.
    """
    return has_marker(text, observation) or judge(text, observation, ref).states


def sentence(observation: Observation, ref: str, language: str) -> str:
    """Return the observation in plain words, e.g. `The stock of REF-000 is 0.`; English for a language without page."""
    words = _plain_sentences(language)
    if "stock" in observation:
        return words["stock"].format(ref=ref, stock=observation["stock"])
    return words["unknown"].format(ref=ref)


def about_the_question(why: asked.Mismatch, question: str, language: str) -> str:
    """Say in plain words why a question gets no stock: `Your question names no product reference. …`."""
    return _plain_sentences(language)[why].format(written=asked.written(question), form=asked.form())


def _plain_sentences(language: str) -> dict[str, str]:
    """The plain sentences of a language; English ones where it has no page."""
    plain = {page.name: page.plain for page in lists.languages()}
    return plain.get(language, plain[FALLBACK])


def judge(text: str, observation: Observation, ref: str) -> stated.Judgement:
    """Return whether `text` states the observation and nothing else, and where it does not."""
    return stated.judge(text[:LONGEST], observation, ref)


def faults(text: str, observation: Observation, ref: str, finish_reason: str | None = "stop") -> list[str]:
    """Return the names of what is wrong with `text` as a wording of `observation`, keys of `FAULTS` in their order.

    `REF-007: 9` is a good wording of stock 9 for REF-007; `REF-007: 97` lacks the figure and adds an unsupported one.
    A text that the lists do not allow has one at least: `not_listed`, or `no_lists`, where nothing worse has a name.
    """
    judged, judgement = text[:LONGEST], judge(text, observation, ref)
    found = {"cut"} if finish_reason != "stop" or judged != text else set()
    if not judgement.states:
        found |= _named(judged, observation, ref)
        found = found or {"not_listed" if judgement.language else "no_lists"}
    return [name for name in FAULTS if name in found]


def _named(text: str, observation: Observation, ref: str) -> set[str]:
    """Return the faults that have a name of their own, in a text that the lists do not allow."""
    stock, name = (observation["stock"], observation.get("name", "")) if "stock" in observation else (None, "")
    rest = without_names(text, ref, name)
    words = _plain(rest)
    not_found, none_left, in_stock = (lists.sign(name).search(words) for name in ("not_found", "none_left", "in_stock"))
    others = figures.others(rest, stock)
    checks = {
        "figure_missing": not (has_marker(text, observation) if stock is None else figures.holds(rest, stock)),
        "unsupported_number": others,
        "zero_as_not_found": stock == 0 and not_found,
        "stock_as_not_found": stock and not_found,
        "stock_as_none": stock and none_left,
        "not_found_as_stock": stock is None and (others or none_left or (not not_found and in_stock)),
    }
    return {name for name, is_so in checks.items() if is_so}


def holds_figure(text: str, observation: Observation, ref: str) -> bool:
    """Whether `text` says the stock as a whole number outside names, or, of an unknown product, that it is unknown."""
    if "stock" not in observation or judge(text, observation, ref).states:
        return has_own_marker(text, observation, ref)
    return figures.holds(without_names(text[:LONGEST], ref, observation.get("name", "")), observation["stock"])


def without_names(text: str, ref: str, name: str) -> str:
    """Return `text` without the product's reference and names, so that their digits are not taken for a stock."""
    return re.sub(clauses.names(ref, name), " ", text, flags=re.IGNORECASE)


def _plain(text: str) -> str:
    """Case folded, in one Unicode form, straight apostrophes, single spaces: how markers and signs are compared."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    return " ".join(folded.split())
