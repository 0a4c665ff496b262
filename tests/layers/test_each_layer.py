"""Each layer, broken by an exact change of text in a copy of the project, makes the tests fail that name it.

A layer whose removal nobody notices is not tested. A change whose text is not found fails too: the table has to follow
the code. Run alone with: python -m pytest tests/layers
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import tally
from tests.support.project import copy_project, environment

GATE = "tests/properties/test_gate.py"
FILES = "tests/properties/test_files.py"
START = "tests/faults/test_start.py"
RESUME = "tests/survival/test_resume.py"
INTERRUPTION = "tests/survival/test_interruption.py"
HOSTILE = "tests/hostile/test_hostile.py"


@dataclass(frozen=True)
class Layer:
    name: str
    file: str
    old: str
    new: str
    attacked_by: str  # the test that must notice


LAYERS = [
    Layer(
        "allow-list of tools", "src/tools.py", ' or call["outil"] not in TOOLS', "", f"{GATE}::test_any_python_value"
    ),
    Layer(
        "tool name a plain text",
        "src/tools.py",
        'type(call["outil"]) is not str or ',
        "",
        f"{GATE}::test_objects_that_lie",
    ),
    Layer(
        "full match", "src/tools.py", "REFERENCE.fullmatch", "REFERENCE.match", f"{GATE}::test_any_value_in_each_place"
    ),
    Layer("ASCII digits", "src/tools.py", '"REF-[0-9]{3}"', 'r"REF-\\d{3}"', f"{GATE}::test_any_value_in_each_place"),
    Layer("exact keys", "src/tools.py", "set(value) == keys", "set(value) >= keys", f"{GATE}::test_objects_that_lie"),
    Layer(
        "plain keys",
        "src/tools.py",
        " and all(type(key) is str for key in value)",
        "",
        f"{GATE}::test_objects_that_lie",
    ),
    Layer(
        "plain dict", "src/tools.py", "type(value) is dict", "isinstance(value, dict)", f"{GATE}::test_objects_that_lie"
    ),
    Layer("call budget", "src/tools.py", "type(count) is not int or not", "not", f"{GATE}::test_objects_that_lie"),
    Layer(
        "bound parameter",
        "src/tools.py",
        'db.execute(READ, (args["ref"],))',
        'db.execute(READ.replace("?", repr(args["ref"])))',
        f"{GATE}::test_any_python_value",
    ),
    Layer("mode=ro", "src/tools.py", "?mode=ro", "?mode=rwc", f"{FILES}::test_the_database_is_the_one_named"),
    Layer(
        "escaped URI",
        "src/tools.py",
        'Path(path).resolve().as_uri() + "?mode=ro"',
        'f"file:{path}?mode=ro"',
        f"{FILES}::test_the_database_is_the_one_named",
    ),
    Layer(
        "no overwriting", "src/tools.py", "os.link(draft, final)", "draft.replace(final)", f"{FILES}::test_create_never"
    ),
    Layer(
        "schema sent",
        "src/agent.py",
        'generate(query["query"], SCHEMA, system=CHOOSE)',
        'generate(query["query"], system=CHOOSE)',
        f"{START}::test_the_schema_goes_where_it_constrains",
    ),
    Layer(
        "schema in the shape that constrains",
        "src/agent.py",
        '"json_schema": {"name": name, "strict": True, "schema": schema}',
        '"schema": schema',
        f"{START}::test_the_schema_goes_where_it_constrains",
    ),
    Layer(
        "cut proposals", "src/agent.py", 'if proposal["finish_reason"] != "stop":', "if False:", f"{GATE}::test_a_cut"
    ),
    Layer(
        "no repeated keys",
        "src/server/reply.py",
        "loads(text, _exact_keys)",
        "loads(text)",
        f"{GATE}::test_repeated_keys",
    ),
    Layer("no NaN", "src/base/printable.py", ", parse_constant=_no_constant", "", f"{GATE}::test_json_loses_nothing"),
    Layer(
        "shape of a reply",
        "src/server/reply.py",
        "fault = next(iter(_validator().iter_errors(reply)), None)",
        "fault = None",
        f"{GATE}::test_any_body",
    ),
    Layer(
        "escapes on the terminal",
        "src/base/printable.py",
        "c if c.isprintable() else",
        "c if c else",
        f"{GATE}::test_an_excerpt",
    ),
    Layer(
        "escapes in the files",
        "src/base/printable.py",
        "match[0] if match[0].isprintable() else",
        "match[0] if match[0] else",
        f"{FILES}::test_results_load_back",
    ),
    Layer("deadline", "src/server/client.py", "sock.shutdown(socket.SHUT_RDWR)", "pass", f"{START}::test_a_drip"),
    Layer(
        "bound on a reply",
        "src/server/client.py",
        "REPLY_BYTES = 8 << 20",
        "REPLY_BYTES = 9 << 20",
        f"{START}::test_a_reply_of",
    ),
    Layer(
        "no redirects",
        "src/server/client.py",
        'self._session.get_adapter(request.url or "").send(request, stream=True, timeout=timeout)',
        "self._session.send(request, stream=True, timeout=timeout)",
        f"{START}::test_a_key_is_sent_to_no_other_address",
    ),
    Layer(
        "a connection for each exchange",
        "src/server/connection.py",
        "self.will_close = True",
        "pass",
        f"{START}::test_each_exchange_has_a_connection",
    ),
    Layer(
        "results kept as they come", "src/runs/session.py", "journal.append(", "str(", f"{RESUME}::test_a_damaged_line"
    ),
    Layer(
        "the checksum of a line",
        "src/runs/store.py",
        " or hashlib.sha256(parts[2]).hexdigest().encode() != parts[1]",
        "",
        f"{RESUME}::test_a_damaged_line",
    ),
    Layer(
        "one run at a time",
        "src/base/disk.py",
        "fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "pass",
        f"{INTERRUPTION}::test_two_runs",
    ),
    Layer(
        "no mixing",
        "src/runs/recovery.py",
        'if different := [each for each in different if each[0] != "server.replicas"]:',
        "if different := []:",
        f"{RESUME}::test_another_",
    ),
    Layer(
        "results checked",
        "src/runs/runfile.py",
        "if fault is not None:",
        "if False:",
        f"{RESUME}::test_evaluate_refuses",
    ),
    Layer(
        "digest before and after",
        "src/runs/record.py",
        'if not made["unchanged"]:',
        "if False:",
        f"{RESUME}::test_a_database_that_disappears",
    ),
    Layer(
        "judgement of a hostile run",
        "src/measures/hostile.py",
        "if (what := breach(result))",
        "if (what := '')",
        f"{HOSTILE}::test_anything_outside",
    ),
    Layer(
        "database as prepared",
        "src/runs/database.py",
        "if strange:",
        "if strange is None:",
        "tests/faults/test_database.py::test_a_database_that_prepare_did_not_make",
    ),
]


QUICK = ("allow-list of tools", "schema sent")  # one that generated values find, one that a question finds


def marked(layer: Layer) -> Any:
    """A layer of the table; but for a few of them its test is a deep one."""
    deep = () if layer.name in QUICK else pytest.mark.mutation
    return pytest.param(layer, id=layer.name.replace(" ", "_"), marks=deep)


@pytest.mark.parametrize("layer", [marked(layer) for layer in LAYERS])
def test_a_broken_layer_is_noticed_by_the_test_that_attacks_it(layer: Layer, tmp_path: Path) -> None:
    copy = copy_project(tmp_path / "copy", "tests", "pyproject.toml")
    path = copy / layer.file
    text = path.read_text(encoding="utf-8")
    assert layer.old in text, f"{layer.file} has changed: adapt the table in {Path(__file__).name}"
    path.write_text(text.replace(layer.old, layer.new), encoding="utf-8")
    file, _, name = layer.attacked_by.partition("::")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", file, "-k", name]
    # Shrinking an example takes long and is of no use here.
    done = subprocess.run(
        command,
        cwd=copy,
        env=environment(HYPOTHESIS_PROFILE="layers"),
        capture_output=True,
        encoding="utf-8",
        timeout=250,
        check=False,
    )
    assert done.returncode == 1, f"nobody noticed that this layer is broken: {layer.name}\n{done.stdout[-3000:]}"
    assert f"FAILED {file}::{name}" in done.stdout
    tally.count("layers", "layers broken")
