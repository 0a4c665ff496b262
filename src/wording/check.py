"""What is wrong with a sentence about an observation, and the plain sentence that says the observation itself.

The model words what the tool read; the code compares. Pure functions: a text and a record in, names of faults out.
Not covered: numbers in words, irony, and denials of a listed phrase (`not out of stock`), which count as the phrase.
"""

import re
import unicodedata

from src.base.records import Language, Observation
from src.wording import figures

LONGEST = 20_000  # characters that are judged; 100 tokens are never that long, so a longer text counts as cut
NOT_FOUND_MARKER = "introuvable"  # the word that the second system prompt asks for, in every language

# Name of a fault, and what it says to a person; in this order everywhere.
FAULTS = {
    "no_answer": "no answer: the second generation failed",
    "cut": "cut by the token limit",
    "figure_missing": "lacks the observed number",
    "unsupported_number": "brings in another number",
    "zero_as_not_found": "stock 0 worded as not found",
    "stock_as_not_found": "stock above 0 worded as not found",
    "stock_as_none": "stock above 0 worded as out of stock",
    "not_found_as_stock": "unknown product worded as a stock",
}

# Small on purpose, and read in all languages at once: a model asked in Vietnamese may answer in English or French.
# Left out because they fit both cases: `not available`, `no disponible`, `không có`, `indisponible`.
NOT_FOUND = re.compile(
    # English
    r"\bnot? (?:been |be |was )?found\b|\bno such\b|(?:\bnot|n't) exist|\bnon-?existent\b|\bunknown\b"
    r"|\bno (?:record|product)\b"
    r"|\b(?:can|ca|could)(?:not|nnot|n't| not) (?:be found|find|locate)\b"
    # Spanish
    r"|\bno (?:se (?:ha |pudo |puede )?)?(?:encontr|existe)|\bno (?:fue|ha sido) encontrad|\binexistente"
    r"|\bdesconocid[oa]"
    # Vietnamese
    r"|\b(?:không|chưa) (?:được )?(?:tìm thấy|tồn tại)|\bkhông có (?:sản phẩm|mã)"
    # French
    r"|\bintrouvable|\b(?:non|pas)(?: été)? (?:re)?trouvé|\bn'existe (?:pas|plus)|\binexistant|\binconnue?\b"
    r"|\baucun produit\b"
)
NO_STOCK = re.compile(
    r"\bout[ -]of[ -]stock\b|\bsold out\b|\b(?:no|zero) (?:stock|units)\b|\b(?:not|none) in stock\b|\bnone left\b"
    r"|\bagotad[oa]|\b(?:sin|no hay|cero) (?:stock|existencias|unidades)\b|\bno qued(?:a|an)\b"
    r"|\bhết (?:hàng|kho|sạch)|\bkhông còn(?! lại bao nhiêu)"
    r"|\brupture\b|\bépuisée?s?\b|\b(?:pas|plus) en stock\b|\b(?:aucun|zéro) stock\b|\bstock (?:nul|vide)\b"
)
IN_STOCK = re.compile(
    r"\bin stock\b|\bavailable\b|\ben stock\b|\bdisponible|\bhay (?:stock|existencias|unidades)\b|\bcòn hàng|\bcó sẵn"
)

SENTENCES: dict[Language, tuple[str, str]] = {
    "en": ("The stock of {ref} is {stock}.", "{ref}: introuvable (there is no such product)."),
    "es": ("El stock de {ref} es {stock}.", "{ref}: introuvable (no existe ese producto)."),
    "vi": ("Tồn kho của {ref} là {stock}.", "{ref}: introuvable (không có sản phẩm này)."),
    "fr": ("Le stock de {ref} est {stock}.", "{ref} : introuvable (ce produit n’existe pas)."),
}


def marker(observation: Observation) -> str:
    """Return the text that the published measure looks for: the stock number, or `introuvable`."""
    return str(observation["stock"]) if "stock" in observation else NOT_FOUND_MARKER


def sentence(observation: Observation, ref: str, language: Language) -> str:
    """Return the observation in plain words, e.g. `The stock of REF-000 is 0.`; it holds the published marker."""
    found, unknown = SENTENCES[language]
    return found.format(ref=ref, stock=observation["stock"]) if "stock" in observation else unknown.format(ref=ref)


def faults(text: str, observation: Observation, ref: str, finish_reason: str | None = "stop") -> list[str]:
    """Return the names of what is wrong with `text` as a wording of `observation`, keys of `FAULTS` in their order.

    `REF-007: 9` is a right wording of stock 9 for REF-007; `REF-007: 97` lacks the figure and adds an unsupported one.
    """
    stock, name = (observation["stock"], observation.get("name", "")) if "stock" in observation else (None, "")
    judged = text[:LONGEST]
    rest = without_names(judged, ref, name)
    words = _plain(rest)
    not_found, none_left = bool(NOT_FOUND.search(words)), bool(NO_STOCK.search(words))
    others = figures.others(rest, stock)
    checks = {
        "cut": finish_reason != "stop" or judged != text,
        "figure_missing": not holds_figure(judged, observation, ref),
        "unsupported_number": bool(others),
        "zero_as_not_found": stock == 0 and not_found,
        "stock_as_not_found": bool(stock) and not_found,
        "stock_as_none": bool(stock) and none_left,
        "not_found_as_stock": stock is None
        and (bool(others) or none_left or (not not_found and bool(IN_STOCK.search(words)))),
    }
    return [name for name in FAULTS if checks.get(name)]


def holds_figure(text: str, observation: Observation, ref: str) -> bool:
    """Whether `text` says the stock as a whole number outside names, or `introuvable` for an unknown product."""
    if "stock" not in observation:
        return NOT_FOUND_MARKER in text
    return figures.holds(without_names(text[:LONGEST], ref, observation.get("name", "")), observation["stock"])


def without_names(text: str, ref: str, name: str) -> str:
    """Return `text` without the reference and the product's name, so that their digits are not taken for a stock.

    `ref-012`, `REF 012` and `REF012` are REF-012; `REF-0120` and `Produit 120` keep their numbers.
    """
    prefix, _, number = ref.partition("-")
    if not ref:
        return text
    names = [rf"\b{re.escape(prefix)}[\s_.:#\-\u2010-\u2015]{{0,3}}{re.escape(number)}"]
    if any(character.isalpha() for character in name):  # a name of digits alone cannot be told from a stock
        names.append(rf"(?<!\w){re.escape(name)}")
    return re.sub(rf"(?:{'|'.join(names)})(?!\w)", " ", text, flags=re.IGNORECASE)


def _plain(text: str) -> str:
    """Lower case, composed accents, straight apostrophes, single spaces: what the vocabularies are written in."""
    folded = unicodedata.normalize("NFC", text).casefold().replace("\u2019", "'")
    return " ".join(folded.split())
