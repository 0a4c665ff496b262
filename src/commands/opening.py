"""`reproduce --opening`: what `quickstart.sh` shows before anything is installed: two calls put to the code.

No model and no package is needed for that; it also finds a wrong option before anything is downloaded.
"""

import contextlib
import tempfile
from pathlib import Path

from src.base import layout
from src.base.messages import translator
from src.base.printable import dumps, say
from src.base.records import Language
from src.commands import exercise
from src.commands.negatives import ALLOWED
from src.commands.records import Observed
from src.measures import verdicts
from src.runs import catalog
from src.runs.results import explained
from src.tools import create, readonly

FORBIDDEN = {"outil": "delete", "arguments": {"ref": "REF-000"}}


def opening(language: Language) -> None:
    """Show a call that is allowed and one that is refused, with what each came to."""
    _ = translator(language).gettext
    layout.put((layout.wrapped(_("The model proposes, the code decides. Two calls, without a model yet:")), "strong"))
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "stock.db"
        create(database, catalog.shop()["products"])
        with contextlib.closing(readonly(database)) as db:
            for call in (ALLOWED, FORBIDDEN):
                say(layout.wrapped(dumps(call), "  ", "    "))
                _outcome(exercise.put_through(db, call, "found"), language)
    say(layout.wrapped(_("Now a real model, about 150 MB the first time, to see what it proposes.")))


def _outcome(made: Observed, language: Language) -> None:
    _ = translator(language).gettext
    if made["observation"] is not None:
        words = "\n".join([*made["sql"], dumps(made["observation"])])
    else:
        words = explained(made["refusal"], language)
        words = words if made["sql"] else _("{why}; no SQL was run").format(why=words)
    layout.signed("    ", verdicts.mark("refused" if made["observation"] is None else "right"), words)
