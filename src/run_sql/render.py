"""How values reach a terminal: JSON on one line, and text in which nothing can steer the terminal.

Accents stay readable, as in the lesson; control and formatting characters, which could move the cursor or turn the
writing direction, are written as JSON escapes. The JSON read back is equal to the value.
"""

import json
import unicodedata

# Control, format (bidirectional marks, zero-width), surrogate, private, unassigned, line and paragraph separators.
UNSHOWN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def shown(text: str) -> str:
    """Return `text` with every character that is not plainly visible as a JSON escape, e.g. ESC -> `\\u001b`."""
    return "".join(json.dumps(char)[1:-1] if unicodedata.category(char) in UNSHOWN else char for char in text)


def line(value: object) -> str:
    """Return `value` as JSON on one line, laid out as the lesson prints it; ValueError for NaN or an infinity."""
    return shown(json.dumps(value, ensure_ascii=False, allow_nan=False))


def block(value: object) -> str:
    """Return `value` as JSON over several lines, two spaces a level, for people to read."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    return "\n".join(shown(part) for part in text.split("\n"))
