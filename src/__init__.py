"""The stock assistant: the model proposes, the code decides. Start reading at `src/agent.py`."""

import os
import sys

__version__ = "1.1.0"

# Whatever begins with `python -m src.…` comes here first, also an interpreter that cannot read the rest. Hence nothing
# newer than Python 3.6 in this file.
if sys.version_info < (3, 11):  # noqa: UP036
    _root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    _made = os.path.join(_root, ".venv", "bin", "activate")  # noqa: PTH118
    sys.stderr.write(
        "Python 3.11 or newer is needed, and {} is {}; {}\n".format(
            sys.executable,
            sys.version.split()[0],
            "activate the project's environment: . '{}'".format(_made.replace("'", "'\\''"))
            if os.path.exists(_made)  # noqa: PTH110
            else "sh scripts/quickstart.sh looks for one and says how to name it",
        )
    )
    sys.exit(2)
