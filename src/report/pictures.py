"""The two pictures of the time: the mean question divided, and a bar for each question."""

from src.base.messages import Translator
from src.base.records import Result
from src.measures import beyond
from src.measures.records import Times
from src.report.records import Bars, Part


def split(time: Times, to: Translator) -> list[Part]:
    """Return the parts of the mean question: label, ms, share in percent, and where its bar starts."""
    means = time["split_mean_ms"] or {}
    total, start = sum(means.values()) or 1.0, 0.0
    parts: list[Part] = []
    for name, words in beyond.SPLIT.items():
        if name in means:
            share = 100 * means[name] / total
            parts.append({"words": to.gettext(words), "ms": means[name], "share": share, "start": start})
            start += share
    return parts


def bars(results: list[Result], time: Times) -> Bars:
    """Return the questions' times as two SVG paths of bars, the slowest in one of their own, on 100 units of height."""
    highest = max(result["seconds"] for result in results) or 1.0
    slowest = set(time["slowest"]["ids"])
    paths: dict[bool, list[str]] = {False: [], True: []}
    for place, result in enumerate(results):
        height = max(1.0, 100 * result["seconds"] / highest)
        paths[result["id"] in slowest].append(f"M{place}.1 100h.8v-{height:.1f}h-.8z")
    return {
        "others": "".join(paths[False]),
        "slowest": "".join(paths[True]),
        "width": len(results),
        "longest_ms": 1000 * highest,
        "p50_ms": 100 - 100 * time["p50_ms"] / 1000 / highest,
        "p95_ms": 100 - 100 * time["p95_ms"] / 1000 / highest,
    }
