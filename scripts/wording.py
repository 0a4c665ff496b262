"""What the guard makes of labelled sentences: untrue ones let through, right ones replaced, by language.

    python scripts/wording.py                     # our own, tests/wording/sentences.json
    python scripts/wording.py --show FILE.json    # somebody else's, and each sentence that it decides wrongly

FILE.json is a list of objects with `lang`, `observation`, `text`, `label` (`right` or `wrong`). A sentence is let
through if a customer would get it, and replaced if not, as with `--guard-answers`.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from src.base.layout import table
from src.base.printable import excerpt
from src.wording import check
from tests.wording import sentences
from tests.wording.sentences import Labelled


def verdicts(labelled: Iterable[Labelled]) -> list[tuple[Labelled, bool, str]]:
    """Return each sentence with whether it would be delivered, and what no list allows in it."""
    found = []
    for case in labelled:
        _, _, _, observation, text = case
        ref = sentences.ref_of(observation)
        faults = check.faults(text, observation, ref)
        refused = [text[start:end] for start, end in check.judge(text, observation, ref).refused]
        found.append((case, not faults, ", ".join(refused) or ", ".join(faults)))
    return found


def counts(found: Iterable[tuple[Labelled, bool, str]]) -> str:
    """Return the two errors as a table: a row for each language, and one for all."""
    tally: Counter[tuple[str, bool, bool]] = Counter()
    for (language, is_right, *_), delivered, _ in found:
        for row in (language, "all"):
            tally[row, is_right, delivered] += 1
    languages = sorted({language for language, _, _ in tally} - {"all"})
    rows = [["language", "untrue let through", "right replaced"]]
    for language in [*languages, "all"]:
        wrong, right = ([tally[language, label, delivered] for delivered in (True, False)] for label in (False, True))
        rows.append([language, f"{wrong[0]} of {sum(wrong)}", f"{right[1]} of {sum(right)}"])
    return table(rows)


def main() -> int:
    """Print the table; returns the exit status, 1 when an untrue sentence is let through."""
    parser = argparse.ArgumentParser(description="Try the guard on labelled sentences.")
    parser.add_argument("file", nargs="?", type=Path, help="a JSON list of labelled sentences (default: our own)")
    parser.add_argument("--show", action="store_true", help="print each sentence that is decided wrongly")
    args = parser.parse_args()
    found = verdicts(sentences.listed(args.file) if args.file else sentences.own())
    wrong = [each for each in found if each[0][1] != each[1]]
    if args.show:
        for (language, is_right, kind, _, text), _, why in wrong:
            print(f"{'replaced' if is_right else 'LET THROUGH'}  {language}  {kind}  {excerpt(text)}  [{excerpt(why)}]")
    print(counts(found))
    return int(any(not is_right for (_, is_right, *_), *_ in wrong))


if __name__ == "__main__":
    sys.exit(main())
