"""A folder that a command may not write, for tests that run as an ordinary user or as root.

Root may write everywhere thanks to one capability, which is taken from the command, not from the test.
"""

import os
from pathlib import Path

SOMEBODY = 12345  # an id that no user has
WITHOUT_OVERRIDE = ["setpriv", "--bounding-set", "-dac_override"]


def closed(folder: Path) -> tuple[list[str], int]:
    """Close a folder to writing; returns the words to put before a command, and the id of the folder's owner."""
    if os.geteuid() == 0:
        os.chown(folder, SOMEBODY, SOMEBODY)
        folder.chmod(0o755)
        return WITHOUT_OVERRIDE, SOMEBODY
    folder.chmod(0o555)
    return [], os.geteuid()
