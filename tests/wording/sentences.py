"""Labelled sentences: our own in `sentences.json`, and files of the same fields that somebody else keeps."""

import json
from collections.abc import Iterator
from pathlib import Path

from src.base.records import Observation

OWN = Path(__file__).with_name("sentences.json")
LANGUAGES = ("en", "es", "vi", "fr")

# Language, whether it is right, kind of untruth, observation, text.
Labelled = tuple[str, bool, str, Observation, str]


def ref_of(observation: Observation) -> str:
    """Return the reference that was asked about: the product's, or REF-999, which stands for the unknown one here."""
    return observation["ref"] if "stock" in observation else "REF-999"


def own() -> Iterator[Labelled]:
    """Yield our own sentences, written by kinds before the lists were tried on them."""
    data = json.loads(OWN.read_text(encoding="utf-8"))
    for language in LANGUAGES:
        groups = {"right": data[language]["right"], **data[language]["wrong"]}
        for kind, by_observation in groups.items():
            for name, texts in by_observation.items():
                for text in texts:
                    yield language, kind == "right", kind, data["observations"][name], text


def listed(path: Path) -> Iterator[Labelled]:
    """Yield the sentences of a JSON list with `lang`, `ref`, `observation`, `text`, `label` (`right` or `wrong`)."""
    for row in json.loads(path.read_text(encoding="utf-8")):
        yield row["lang"], row["label"] == "right", row["label"], row["observation"], row["text"]
