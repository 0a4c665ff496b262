"""Reads the result of a question, as `agent.run()` returns it."""

from src.base.messages import N_, translator
from src.base.records import Language, Observation, Result

# The checks between a proposal and the database, in the order in which the code makes them.
CHECKS = (N_("reply"), N_("finish reason"), "JSON", N_("tool and shape"), N_("reference"))
# How the message of each refusal begins; any other error is a failure, not a refusal.
REFUSALS = {
    "Proposition tronquée": "finish reason",
    "empty answer": "JSON",
    "not JSON": "JSON",
    "Outil interdit ou appel mal formé": "tool and shape",
    "Référence ou arguments invalides": "reference",
}

# What a refusal says; the tutorial's French stays, and this stands beneath it or in brackets, never in its place.
MEANINGS = {
    "Budget d’appels épuisé ou invalide": N_("call budget used up or invalid"),
    "Outil interdit ou appel mal formé": N_("forbidden tool or malformed call"),
    "Référence ou arguments invalides": N_("invalid reference or arguments"),
    "Proposition tronquée": N_("truncated proposal"),
    "attempt to write a readonly database": N_("attempt to write a readonly database"),  # SQLite's own
}


def meaning(reason: str, language: Language) -> str:
    """Return a refusal in the reader's language; empty where it is in that language already, or is none of ours."""
    said = translator(language).gettext(MEANINGS.get(reason, ""))
    return "" if said == reason else said


def explained(reason: str, language: Language) -> str:
    """Return a refusal as it is written and, where `meaning` has it, in the reader's language in brackets."""
    said = meaning(reason, language)
    return f"{reason} ({said})" if said else reason


def observed(result: Result) -> Observation | None:
    """Return what the tool read for this question, or `None` when no call was executed."""
    return result["trace"][0]["observation"] if result["trace"] else None


def read_another(result: Result) -> tuple[str, str] | None:
    """Return the reference asked about and the other one that was read, e.g. `("REF-012", "REF-007")`; else `None`.

    No check before the database can know this: the question's own `ref` is for measuring only. Hostile questions have
    none, so nothing can be said about them. What a customer gets is decided without it, by the question's text:
    `wording.asked`.
    """
    if not result["trace"] or "ref" not in result:
        return None
    read = result["trace"][0]["call"]["arguments"]["ref"]
    return (result["ref"], read) if read != result["ref"] else None


def refused_by(result: Result) -> str | None:
    """Return the one of CHECKS that refused the proposal, or `None` when none did."""
    if result["trace"] or not result["proposal"]:
        return None
    error = result["error"] or ""
    return next((check for start, check in REFUSALS.items() if error.startswith(start)), None)
