"""With one layer gone on purpose, the one behind it still holds: what a model gets executed in the broken copy.

Run alone with: python -m pytest tests/layers/test_the_next_layer.py
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import tally
from tests.support.faulty_server import Request, Step, completion, http, proposal, send, serving
from tests.support.project import Shop, copy_project, failed

TOOLS = "src/tools.py"
NO_ALLOWLIST = (TOOLS, ' or call["outil"] not in TOOLS', "")
NO_REFERENCE_CHECK = (TOOLS, ' or not REFERENCE.fullmatch(args["ref"])', "")
PASTED_SQL = (TOOLS, 'db.execute(READ, (args["ref"],))', """db.execute(READ.replace("?", "'" + args["ref"] + "'"))""")
WRITABLE = (TOOLS, "?mode=ro", "?mode=rw")
DROP = "x'; DROP TABLE products; --"
LEAK = "x' UNION SELECT name, sql, 1 FROM sqlite_master --"


@dataclass(frozen=True)
class Case:
    broken: str
    patches: Sequence[tuple[str, str, str]]
    proposed: str
    holds: str
    executed: int  # calls in the trace of the hostile questions
    status: int  # of `evaluate --data data/hostile.json` afterwards


CASES = [
    Case("nothing", [], proposal(DROP), "the gate refuses", 0, 0),
    Case(
        "the schema is not sent",
        [("src/agent.py", "if schema is not None:", "if False:")],
        proposal(tool="delete"),
        "the gate refuses the tool",
        0,
        0,
    ),
    Case("the allow-list", [NO_ALLOWLIST], proposal("REF-001", "delete"), "only the fixed read is there", 60, 1),
    Case("the form of the reference", [NO_REFERENCE_CHECK], proposal(DROP), "the parameter is bound: no row", 60, 1),
    Case("reference and binding", [NO_REFERENCE_CHECK, PASTED_SQL], proposal(DROP), "one statement a call", 0, 0),
    Case("reference and binding, leak", [NO_REFERENCE_CHECK, PASTED_SQL], proposal(LEAK), "nothing: it leaks", 60, 1),
    Case("mode=ro", [WRITABLE], proposal("REF-001'; DELETE FROM products"), "the gate refuses", 0, 0),
]


def marked(case: Case) -> Any:
    """A case of the table; but for one of them its test is a deep one."""
    deep = () if case.broken == "reference and binding" else pytest.mark.mutation
    return pytest.param(case, id=case.broken.replace(" ", "_"), marks=deep)


@pytest.mark.parametrize("case", [marked(case) for case in CASES])
def test_what_holds_when_a_layer_is_gone(case: Case, tmp_path: Path, prepared: Path) -> None:
    copy = copy_project(tmp_path / "copy")
    for file, old, new in case.patches:
        text = (copy / file).read_text(encoding="utf-8")
        assert old in text, f"{file} has changed: adapt the table in {Path(__file__).name}"
        (copy / file).write_text(text.replace(old, new), encoding="utf-8")
    shop = Shop(tmp_path / "outputs", root=copy)
    shop.outputs.mkdir()
    shutil.copy(prepared, shop.database)

    def plan(request: Request) -> Sequence[Step] | None:
        if not request.stage:
            return None
        first = "Choisis un outil" in str(request.body["messages"][0]["content"])
        return [send(http(completion(case.proposed if first else "done")))]

    data = ["--data", "data/hostile.json"]
    with serving(plan) as server:
        shop.url = server.url
        assert shop.run("agent", *data).status == 0
    done = shop.run("evaluate", *data)
    assert done.status == case.status, done.err
    if case.status:
        failed(done, 1, "60 questions executed something other than an allowed read")
    assert shop.read("hostile.json")["measures"]["executed"] == case.executed
    assert shop.database.read_bytes() == prepared.read_bytes(), "the database was changed"
    tally.count("layers", "the next layer holds")
