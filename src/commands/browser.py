"""Opens a page in the reader's browser, where there is a screen to open it on."""

import os
import sys
import webbrowser
from pathlib import Path


def opens(page: Path) -> bool:
    """Open a file in the browser; return whether that was possible.

    Without a screen (over ssh, in a container) the library would start a text browser in the terminal; nothing is
    started then. BROWSER, the library's own variable, is followed in any case.
    """
    if not _has_screen():
        return False
    try:
        return webbrowser.open(page.absolute().as_uri())
    except webbrowser.Error:
        return False


def _has_screen() -> bool:
    if os.environ.get("BROWSER"):
        return True
    if sys.platform == "darwin":
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
