"""Every sentence that teaches has its translations, none is left over, and all keep the form of the English one.

The messages are read where they stand: calls of `_`, `N_`, `gettext` and `ngettext` in `src/`, and the page's template
by Jinja's own extraction. Run alone: python -m pytest tests/structure/test_messages.py
"""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from src.base import messages
from src.base.errors import Precondition
from src.report import render

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
CATALOGUE = ROOT / "data" / "messages.toml"
TRANSLATED = ("es", "vi", "fr")
MARKS = {"_": 1, "N_": 1, "gettext": 1, "ngettext": 2}  # how many of the arguments are English
# What a translation keeps: the names of values, markup, code, and whatever separates a line from the next.
KEPT = re.compile(r"\{[^{}]*\}|%\(\w+\)s|%%|</?\w[^<>]*>|`[^`]*`|\n")
Entry = dict[str, Any]


def in_code(tree: ast.AST) -> Iterator[tuple[str, ...]]:
    """The messages of a module; `_(name)` translates what was marked elsewhere and is none itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            texts = [arg.value for arg in node.args[: MARKS.get(name, 0)] if isinstance(arg, ast.Constant)]
            assert not any(isinstance(arg, ast.JoinedStr) for arg in node.args[: MARKS.get(name, 0)]), ast.unparse(node)
            if texts:
                yield tuple(map(str, texts))


def used() -> dict[str, str | None]:
    """Every message of the program, with its plural or `None`."""
    found: dict[str, str | None] = {}
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SRC.rglob("*.py")]
    pages = [path.read_text(encoding="utf-8") for path in SRC.rglob("*.j2")]
    i18n: Any = render.engine("en")
    extracted = [message for page in pages for *_, message in i18n.extract_translations(page)]
    written: list[Any] = [*(message for tree in trees for message in in_code(tree)), *extracted]
    for message in written:
        one, *many = (message,) if isinstance(message, str) else [text for text in message if text is not None]
        found[one] = many[0] if many else found.get(one)
    return found


def entries() -> dict[str, Entry]:
    return tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))


def faults(english: str, plural: str | None, entry: Entry) -> Iterator[str]:
    """What is wrong with the translations of one message."""
    if entry.get("plural") != plural:
        yield f"its plural is {plural!r}"
    if unknown := entry.keys() - {"plural", *TRANSLATED}:
        yield f"it has {unknown}"
    for language in TRANSLATED:
        written = entry.get(language)
        forms = written if isinstance(written, list) else [written]
        if len(forms) != (1 if plural is None or language == "vi" else 2):
            yield f"{language} has {len(forms)} forms"
        for form, model in zip(forms, (english, plural or english), strict=False):
            yield from (f"{language}: {fault}" for fault in _differences(form, model))


def _differences(form: Any, english: str) -> Iterator[str]:
    if not isinstance(form, str) or not form.strip():
        yield "not translated"
        return
    if sorted(KEPT.findall(form)) != sorted(KEPT.findall(english)):
        yield f"keeps {sorted(KEPT.findall(form))} of {sorted(KEPT.findall(english))}"
    if [form[: len(form) - len(form.lstrip())], form[len(form.rstrip()) :]] != [
        english[: len(english) - len(english.lstrip())],
        english[len(english.rstrip()) :],
    ]:
        yield "begins or ends with other white space"
    words = re.findall(r"[^\W\d_]{2,}", KEPT.sub("", english))
    if form == english and len(words) > 1:  # one word may be the same: `stock`
        yield "is the English text"


def test_every_message_is_translated_into_every_language_and_keeps_its_form() -> None:
    known = entries()
    assert [message for message in used() if message not in known] == [], "not in data/messages.toml"
    wrong = [(one, fault) for one, many in used().items() for fault in faults(one, many, known[one])]
    assert wrong == []


def test_no_translation_is_left_of_a_message_that_is_gone() -> None:
    assert len(used()) > 5
    assert set(entries()) - set(used()) == set()


GOOD: Entry = {"plural": "{n} rows", "es": ["{n} fila", "{n} filas"], "vi": "{n} dòng", "fr": ["{n} rang", "{n} rangs"]}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"es": ["{m} fila", "{n} filas"]}, "es: keeps"),
        ({"es": "{n} filas"}, "es has 1 forms"),
        ({"vi": ""}, "vi: not translated"),
        ({"vi": "{n} dòng "}, "vi: begins or ends"),
        ({"fr": None}, "fr: not translated"),
        ({"plural": "rows"}, "plural"),
        ({"de": "{n} Zeilen"}, "de"),
    ],
)
def test_a_translation_that_lost_its_form_is_found(change: Entry, told: str) -> None:
    assert list(faults("{n} row", "{n} rows", GOOD)) == []
    assert any(told in fault for fault in faults("{n} row", "{n} rows", {**GOOD, **change}))


def test_english_left_standing_is_found_and_a_word_that_is_the_same_is_not() -> None:
    assert list(_differences("stock of {ref}", "stock of {ref}")) == ["is the English text"]
    assert list(_differences("stock {n}", "stock {n}")) == []
    assert list(_differences("<b>stock</b>", "<i>stock</i>")) != []


def test_messages_are_found_in_code_wherever_they_stand() -> None:
    tree = ast.parse('X = N_("a")\nsay(_("b {n}").format(n=1))\nt.ngettext("{n} c", "{n} cs", n)\n_(X)')
    assert sorted(in_code(tree)) == [("a",), ("b {n}",), ("{n} c", "{n} cs")]


def test_a_translator_answers_in_its_language_and_in_the_form_of_the_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue = tmp_path / "messages.toml"
    lines = [f"{name} = {json.dumps(form, ensure_ascii=False)}" for name, form in GOOD.items()]
    catalogue.write_text("\n".join(['["{n} row"]', *lines]), encoding="utf-8")
    monkeypatch.setattr(messages, "CATALOGUE", catalogue)
    messages._catalogue.cache_clear()
    try:
        said = {
            language: [messages.Translator(language).ngettext("{n} row", "{n} rows", n).format(n=n) for n in (0, 1, 2)]
            for language in ("en", "es", "vi", "fr")
        }
        assert messages.Translator("es").gettext("not there") == "not there"
        catalogue.write_text("[", encoding="utf-8")
        messages._catalogue.cache_clear()
        assert messages.Translator("en").gettext("{n} row") == "{n} row"  # English needs no file
        with pytest.raises(Precondition, match="restore it"):
            messages.Translator("vi")
    finally:
        messages._catalogue.cache_clear()
    assert said == {
        "en": ["0 rows", "1 row", "2 rows"],
        "es": ["0 filas", "1 fila", "2 filas"],
        "vi": ["0 dòng", "1 dòng", "2 dòng"],
        "fr": ["0 rang", "1 rang", "2 rangs"],
    }
