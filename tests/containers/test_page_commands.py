"""docs/CONTAINERS.md has the tutorial's commands in its order, and on the CPU the same but for what must change.

Needs no engine. Run alone: python -m pytest tests/containers/test_page_commands.py
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.containers.scene import ROOT

PAGE = ROOT / os.environ.get("R3_PAGE", "docs/CONTAINERS.md")
APP = "docker compose run --rm --no-deps app"
TUTORIAL = [
    "./scripts/preflight.sh",
    "sh scripts/setup.sh",
    "docker compose build",
    "docker compose --profile acquisition run --rm --no-deps fetch",
    f"{APP} -m unittest discover -s tests -v",
    f"{APP} -m src.cli prepare",
    "docker compose up -d server",
    f"{APP} -m src.cli agent",
    f"{APP} -m src.cli negatives",
    f"{APP} -m src.cli evaluate",
    f"{APP} -m src.cli exercise",
    "docker compose down",
]


def extracted(page: Path, name: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / ".ci" / "page_commands.py"), str(page), name]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_the_commands_are_the_tutorials_as_written_and_in_order() -> None:
    assert extracted(PAGE, "gpu").stdout.splitlines() == TUTORIAL


def test_the_cpu_route_changes_no_more_than_it_must() -> None:
    instead = {
        "./scripts/preflight.sh": "./scripts/preflight.sh --cpu",
        "sh scripts/setup.sh": "sh scripts/setup.sh --cpu",
        "docker compose up -d server": "docker compose up -d server-cpu",
    }
    assert extracted(PAGE, "cpu").stdout.splitlines() == [instead.get(line, line) for line in TUTORIAL]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<!-- commands: x -->\n```sh\none   # why\n\n# a comment\ntwo \\\n  three\n```\n", ["one", "two    three"]),
        ("<!-- commands: x -->\n\n```\none\n```\nwords\n<!-- commands: x -->\n```sh\ntwo\n```\n", ["one", "two"]),
        ("<!-- commands: y -->\n```sh\none\n```\n```sh\ntwo\n```\n", []),
    ],
    ids=["comments and continuations", "two blocks", "another name"],
)
def test_only_marked_blocks_are_taken(tmp_path: Path, text: str, found: list[str]) -> None:
    path = tmp_path / "page.md"
    path.write_text(text)
    done = extracted(path, "x")
    assert done.stdout.splitlines() == found
    assert done.returncode == (0 if found else 1)
