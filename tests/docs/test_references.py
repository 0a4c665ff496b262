"""What the documents name is there: paths, links, commands, services, variables; and what is there is named.

Run alone: python -m pytest tests/docs/test_references.py
"""

import re
import subprocess
import unicodedata
from pathlib import Path

import pytest

from src.commands.entries import COMMANDS
from src.run_sql import cli as run_sql
from tests.docs import pages
from tests.support import console
from tests.support.command import cli

PATH = re.compile(r"(?<![\w/.-])((?:src|scripts|configs|data|docs|tests|\.ci)/[\w./-]*\w|compose\.yaml|Dockerfile)")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
VARIABLE = re.compile(r"\b(?:LLM|R3)_[A-Z_]+\b")
INTERNAL = {
    "R3_CI_ENGINE",
    "R3_CI_KEEP",
    "R3_PAGE",
    "R3_ENGINE_STATE",
    "R3_ENGINE_GID",
    "R3_ENGINE_RESOLVER",
    "R3_NODES_STATE",
}


def tracked() -> list[str]:
    """The files of the project as git knows them, new ones included."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=pages.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return str(listed.stdout).split()


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_every_path_that_is_named_exists(page: Path) -> None:
    text = re.sub(r"https?://\S+", "", page.read_text(encoding="utf-8"))
    for name in sorted(set(PATH.findall(text))):
        if name.startswith("src/anthropic"):  # an SDK's
            continue
        assert (pages.ROOT / name).exists(), f"{page.name} names {name}"


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub gives a page's headings."""
    made = set()
    for heading in re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        kept = "".join(c for c in heading.lower() if c in "-_ " or unicodedata.category(c)[0] in "LMN")
        made.add(kept.strip().replace(" ", "-"))
    return made


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(path), f"{page.name} links to {target}; there are {anchors(path)}"


def commands_of(page: Path) -> list[tuple[str, list[str]]]:
    return [
        (block.mark, [pages.same_in_every_language(command) for command in block.commands])
        for block in console.blocks(page)
        if block.language in ("console", "sh")
    ]


@pytest.mark.parametrize("page", pages.TRANSLATED, ids=lambda page: page.name)
def test_a_translated_page_has_the_commands_of_the_english_one(page: Path) -> None:
    assert commands_of(page) == commands_of(pages.english(page))


def figures(page: Path) -> set[str]:
    """The numbers of a page, whichever mark the language puts between thousands."""
    text = re.sub(r"(?<=\d)[ ,.\u00a0](?=\d{3}\b)", "", page.read_text(encoding="utf-8"))
    return set(re.findall(r"\d+", text))


@pytest.mark.parametrize("page", pages.TRANSLATED, ids=lambda page: page.name)
def test_a_translated_page_leaves_out_no_figure_of_the_english_one(page: Path) -> None:
    if not page.name.startswith("TROUBLESHOOTING"):  # a selection, and says so
        assert figures(pages.english(page)) - figures(page) == set()


def test_the_two_commands_stand_before_line_30() -> None:
    head = pages.README.read_text(encoding="utf-8").splitlines()[:29]
    assert "sh scripts/quickstart.sh" in head and "sh scripts/test.sh" in head


def documented() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in pages.PAGES)


def test_every_sub_command_is_in_the_readme() -> None:
    text = pages.README.read_text(encoding="utf-8")
    for name in COMMANDS.commands:
        assert re.search(rf"`{name}\b|src\.cli[^\n]* {name}\b", text), name


def test_every_sub_command_of_the_second_lesson_is_on_its_page() -> None:
    text = (pages.DOCS / "RUN_SQL.md").read_text(encoding="utf-8")
    assert len(run_sql.COMMANDS.commands) >= 6
    for name in run_sql.COMMANDS.commands:
        assert re.search(rf"src\.run_sql {name}\b|`{name}\b", text), name


def test_every_sub_command_says_in_its_help_what_it_needs_writes_or_comes_next() -> None:
    for name in COMMANDS.commands:
        shown = cli(name, "--help").out
        assert "writes: " in shown and ("next: " in shown or "example: " in shown), name
        writes = COMMANDS.commands[name].notes.partition("writes: ")[2].split("\n")[0]
        for written in re.findall(r"[\w-]+\.(?:json|db|html)", writes):
            assert f"`{written}`" in (pages.DOCS / "MEASURES.md").read_text(encoding="utf-8"), written


def test_every_command_of_the_pages_is_one_that_the_program_has() -> None:
    called = re.findall(r"(?:python|app) -m src\.cli(?: --?\w+(?:[ =]outputs/\S+)?)* (\w+)", documented())
    assert set(called) - {"COMMAND"} == set(COMMANDS.commands) - {"reproduce"}  # quickstart.sh runs that one


def services() -> set[str]:
    text = (pages.ROOT / "compose.yaml").read_text(encoding="utf-8")
    return set(re.findall(r"^  ([a-z][\w-]*):$", text.split("\nservices:\n")[1].split("\nnetworks:")[0], re.MULTILINE))


def test_every_service_and_profile_of_a_compose_command_exists() -> None:
    assert {"app", "server", "server-cpu", "fetch"} <= services()
    profiles = set(re.findall(r"profiles: \[(\w+)\]", (pages.ROOT / "compose.yaml").read_text(encoding="utf-8")))
    text = documented()
    named = re.findall(r"docker compose [^\n`']*?(?:run --rm --no-deps|up -d|logs|stop) ([a-z][\w-]*)", text)
    assert set(named) == services()
    assert {"cpu", "acquisition"} == set(re.findall(r"--profile (\w+)", text)) | {"cpu"} == profiles


def test_every_variable_is_in_the_settings_and_every_one_there_is_read() -> None:
    sources = [*(pages.ROOT / "src").rglob("*.py"), *(pages.ROOT / "scripts").iterdir(), pages.ROOT / "compose.yaml"]
    read = set(VARIABLE.findall("\n".join(path.read_text(encoding="utf-8") for path in sources if path.is_file())))
    written = set(VARIABLE.findall((pages.DOCS / "SETTINGS.md").read_text(encoding="utf-8")))
    assert read - INTERNAL - written == set(), "read and not in SETTINGS.md"
    assert written - read == set(), "in SETTINGS.md and never read"


def test_every_room_has_a_place_in_the_file_map() -> None:
    """A package is one row; a page need not grow with every file."""
    text = (pages.DOCS / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = {
        "/".join(name.split("/")[1:2]) for name in tracked() if name.startswith("src/") and name != "src/__init__.py"
    }
    missing = [room for room in sorted(rooms) if not re.search(rf"`{re.escape(room)}/?`", text)]
    assert missing == []
