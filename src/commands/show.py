"""What `negatives` attempted and the digests, as text for a person; the result files keep all of it."""

from itertools import groupby

from src.base.layout import wrapped
from src.base.messages import translator
from src.base.printable import dumps
from src.base.records import Language, Negatives
from src.runs import results


def checks(result: Negatives, language: Language) -> str:
    """Return what `negatives` attempted, by kind, with why it was refused or that it was not; then the digests."""
    _ = translator(language).gettext
    lines = []
    for kind, group in groupby(result["checks"], key=lambda check: check["kind"]):
        lines.append(_(kind))
        for check in group:
            why = results.explained(check["reason"], language)
            lines.append(wrapped(dumps(check["attempt"]), "  ", "    "))
            lines.append(wrapped(why if check["refused"] else f"{_('GOT THROUGH')}: {why}", "    ", "      "))
    counts = _("{refused} refused out of {attempted}")
    total = counts.format(refused=result["refused"], attempted=result["attempted"])
    lines.append(f"{total}; {_('database unchanged') if result['unchanged'] else _('database CHANGED')}")
    before, after = _("before"), _("after")
    width = max(len(before), len(after))
    both = ((before, result["digest_before"]), (after, result["digest_after"]))
    lines += [wrapped(digest, f"  {name:<{width}} ") for name, digest in both]  # below each other, to compare by eye
    return "\n".join(lines)
