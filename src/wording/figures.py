"""Which numbers a sentence holds, as whole tokens: 20 does not count inside 120, 1,234 counts as 1234.

Read: signs, thousands separators, decimals, digits of any script. A number attached to a letter (`5k`, `x12`), one with
a leading zero (`012` is a code, not a stock) and one followed by a percent sign equal nothing.
Not read: numbers in words (`twelve`), which look like any other word.
"""

import re
import unicodedata

# Before a number, a minus is a sign only where no word, digit or bracket precedes it: `REF-5`, `10-12`, `(a)-5`.
MINUS = "-\u2212\ufe63\uff0d"
SPACES = " \u00a0\u2007\u2009\u202f"  # thousands in French and in SI style: plain, no-break, figure, thin, narrow
MARKS = ".,\u066b\u066c\uff0e\uff0c'\u2019_"
NUMBER = re.compile(rf"(?:(?<![\w)\]])[{MINUS}])?(?:(?<![\w.,])[.,])?\d+(?:[{MARKS}{SPACES}]\d+)*")
DECIMAL_MARKS = ".,\u066b\uff0e\uff0c"
ENDS_IN_PERCENT = re.compile(r"\s?[%\u2030\u066a\uff05]")


def holds(text: str, figure: int) -> bool:
    """Whether `text` holds `figure` as a whole number: 20 in `20 left` and `20.0`, not in `120`, `-20` or `20 %`."""
    return any(_equals(token, figure) for token in tokens(text))


def others(text: str, figure: int | None) -> list[str]:
    """Return the number tokens of `text` that are not `figure`; with `None` every number is one too many."""
    return [token for token in tokens(text) if figure is None or not _equals(token, figure)]


def thousands_mark(run: str, figure: int | None) -> str | None:
    """Return the mark between the thousands of a number that is `figure` and can be nothing else, "" where it has none.

    `None` for any other number: `69.0`, and `69,000`, which is 69 to some and 69000 to others.
    """
    if figure is None or run != run.strip() or _readings("".join(run.split())) != {str(figure)}:
        return None
    marks = {character for character in run if not character.isdecimal()}
    grouped = re.fullmatch(r"\d+|\d{1,3}(?:\D\d{3})+", run)
    return "".join(marks) if grouped and len(marks) <= 1 else None


def tokens(text: str) -> list[str]:
    """Return the numbers of `text` as written, e.g. `["-5", "1,234", "12%"]`.

    Groups with spaces between them are one token only if they read as thousands: `1 234`, but `3` and `40` in `3 40`.
    """
    found: list[str] = []
    for match in NUMBER.finditer(text):
        start, end = match.span()
        parts = _parts(match[0])
        # Whatever touches the number belongs to it; no reading of such a token equals a figure.
        if start and text[start - 1].isalpha():
            parts[0] = text[start - 1] + parts[0]
        if after := ENDS_IN_PERCENT.match(text, end):
            parts[-1] += after[0].strip()
        elif end < len(text) and text[end].isalpha():
            parts[-1] += text[end]
        found.extend(parts)
    if text.isascii():
        return found
    # Fractions, superscripts, circled and other numerals have no decimal digits but are numbers all the same.
    return found + [character for character in text if character.isnumeric() and not character.isdecimal()]


def _parts(run: str) -> list[str]:
    groups = re.split(f"[{SPACES}]", run)
    thousands = len(groups[0].lstrip(MINUS)) <= 3 and all(re.fullmatch(r"\d{3}", group) for group in groups[1:])
    return ["".join(groups)] if thousands and not groups[0].lstrip(MINUS).startswith("0") else groups


def _equals(token: str, figure: int) -> bool:
    return str(figure) in _readings(token)


def _readings(token: str) -> set[str]:
    """Return the whole numbers that a token can mean, as plain digits: `1.234` is 1234 to some, and never 1."""
    text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else "-" if c in MINUS else c for c in token)
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    pieces = re.split(r"(\D)", text)
    digits, separators = pieces[::2], pieces[1::2]
    if not all(digits) or not set(separators) <= set(MARKS):
        return set()
    readings = set()
    if _grouped(digits, separators):
        readings.add("".join(digits))
    if separators and separators[-1] in DECIMAL_MARKS and separators[-1] not in separators[:-1]:
        whole = _grouped(digits[:-1], separators[:-1])
        if whole and not digits[-1].strip("0"):
            readings.add("".join(digits[:-1]))
    return {sign + reading if reading != "0" else reading for reading in readings}


def _grouped(digits: list[str], separators: list[str]) -> bool:
    """Whether these groups are one whole number: no leading zero, one separator, three digits after each."""
    if digits[0].startswith("0") and digits != ["0"]:
        return False
    return not separators or (
        len(set(separators)) == 1 and len(digits[0]) <= 3 and all(len(group) == 3 for group in digits[1:])
    )
