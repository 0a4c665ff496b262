"""What teaches, in the reader's language: the English sentence in the code is the key to data/messages.toml.

One catalogue for the terminal and the page, read by the standard library's own interface (`gettext`), so that Jinja and
every reader of code know it. A translator is passed along, never set for the whole process: a page in Vietnamese
can be made beside a terminal in English. Records, errors and `--help` stay English.
"""

import gettext
import tomllib
from functools import cache
from typing import get_args

from src.base.errors import Precondition
from src.base.paths import ROOT, near
from src.base.records import Language

LANGUAGES: tuple[Language, ...] = get_args(Language)
THOUSANDS: dict[Language, str] = {"en": ",", "es": ".", "vi": ".", "fr": " "}
CATALOGUE = near(ROOT / "data" / "messages.toml")


def N_(english: str) -> str:  # the name that gettext gives it
    """Mark a sentence that stands in a table as one to translate where it is shown; returns it as it is."""
    return english


class Translator(gettext.NullTranslations):
    """Messages in one language; what the catalogue does not have stays English."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self.language = language
        self._forms = {} if language == "en" else _catalogue()[language]

    def gettext(self, message: str) -> str:
        """Return the message in the reader's language, e.g. `questions asked` as `preguntas hechas`."""
        return self._forms.get(message, (message,))[0]

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """Return the form of the message that goes with `n`; its `{n}` is for the caller to fill in."""
        forms = self._forms.get(msgid1, (msgid1, msgid2))
        one = n in (0, 1) if self.language == "fr" else n == 1
        return forms[0] if one else forms[-1]

    def figure(self, text: str) -> str:
        """Return a figure written with the decimal mark of the language: `0.9667` is `0,9667` but in English."""
        return text if self.language == "en" else text.replace(".", ",")

    def count(self, number: int) -> str:
        """Return a whole number with the mark that the language puts between thousands: 5000 as `5,000` or `5.000`."""
        return f"{number:,}".replace(",", THOUSANDS[self.language])


@cache
def translator(language: Language) -> Translator:
    """Return the translator into a language. Raises `Precondition` when the catalogue is missing or damaged."""
    return Translator(language)


@cache
def _catalogue() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the forms of each message by language: one form, or two where the singular differs from the plural."""
    try:
        entries = tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))
        return {
            language: {english: _forms(entry[language]) for english, entry in entries.items() if language in entry}
            for language in LANGUAGES
            if language != "en"
        }
    except (OSError, ValueError, TypeError) as exc:
        raise Precondition(f"{CATALOGUE} cannot be read ({exc}); restore it from the repository") from None


def _forms(written: str | list[str]) -> tuple[str, ...]:
    return (written,) if isinstance(written, str) else tuple(written)
