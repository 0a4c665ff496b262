"""Every command in README.md and docs/*.md is run in a copy of the project, and its output is the one written there.

The three READMEs share their commands; the 30 questions are asked once, for README.md, and its output is held against
the other two. Run alone: python -m pytest tests/docs/test_blocks.py (two to five minutes: 35 questions to the model)
"""

import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from src.base.messages import translator
from src.base.records import Language
from tests.docs import pages
from tests.support import console, terminal
from tests.support.shared import once

LIMIT_S = 1500
ASKS_30_QUESTIONS = "src.cli agent"
# Pages for a reader who has gone README.md's route, results and all.
AFTER_THE_ROUTE = {"MEASURES.md", "EXERCISE.md", "EXERCISE.es.md", "EXERCISE.vi.md"}
ASKS_ITSELF = ("YOUR_SHOP", "EXTENDING")  # questions of its own to the real model
PROMPT = "): "  # how every prompt of the exercise ends

# Every block that this suite does not run, with its reason: a new one has to be entered here.
NOT_RUN = [
    ("EXTENDING.md", "not run: 30 questions to the model; tests/going_further runs the three commands with a stand-in"),
    *[(f"MODEL_ACQUISITION.{language}md", "not run: downloads from the hub") for language in ("", "es.", "vi.")],
    ("MEASURES.md", "not run: 30 more questions to the model; tests/measures asks some of them"),
    ("MEASURES.md", "not run: 30 more questions to the model; tests/measures asks some of them"),
    ("MEASURES.md", "not run: needs a second run of 30 questions; tests/measures compares two small ones"),
    ("MEASURES.md", "not run: takes minutes; tests/measures/test_bench.py runs it small"),
    *[("CONTRIBUTING.md", "not run: the suites and linters themselves, which CI runs")] * 4,
    ("CONTRIBUTING.md", "not run: asks the package index, and changes the project's own files"),
    ("CONTRIBUTING.md", "not run: tags a commit"),
    ("SECURITY.md", "not run: 60 questions to the model; tests/hostile asks some of them"),
    ("SECURITY.md", "not run: these are the suites themselves, which CI runs"),
    ("SECURITY.md", "run: engine"),
    ("README.md", "run: alone"),
    *[(f"EXERCISE.{language}md", "commands: exercise") for language in ("", "es.", "vi.")],
    ("CONTAINERS.md", "commands: gpu"),
    ("CONTAINERS.md", "commands: cpu"),
    *[("SWARM.md", "commands: swarm")] * 2,
    ("README.es.md", "run: alone"),
    ("CONTAINERS.es.md", "commands: gpu"),
    ("CONTAINERS.es.md", "commands: cpu"),
    ("README.vi.md", "run: alone"),
    ("CONTAINERS.vi.md", "commands: gpu"),
    ("CONTAINERS.vi.md", "commands: cpu"),
]


@dataclass(frozen=True)
class Told:
    """What README.md's commands printed when they were run, and what they left in outputs/."""

    outputs: dict[str, str]
    files: Path


NOTHING_TOLD = Told({}, Path("nowhere"))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """README.md's run, which asks the real model; made once, whichever page needs it first."""

    def make(folder: Path) -> None:
        project = pages.project_copy(folder)
        (folder / "work").mkdir()
        printed = run(pages.README, project, NOTHING_TOLD, folder / "work")
        (folder / "printed.json").write_text(json.dumps(printed), encoding="utf-8")

    folder = once(tmp_path_factory, "told", make)
    return Told(json.loads((folder / "printed.json").read_text(encoding="utf-8")), folder / "project" / "outputs")


def on_terminal(block: console.Block, project: Path) -> None:
    """Run the one command of a block on a terminal, typing what its mark says."""
    ((command, expected),) = block.steps()
    keys = [f"{key}\n".encode() for key in block.mark.removeprefix("keys: ").split()]
    _, shown, err = terminal.typed(["bash", "-c", command], PROMPT, keys, project, pages.shell_environment())
    assert err == "" and console.matches(expected or "", shown), f"{block}: $ {command}\n{shown}{err}"


def instead(command: str, told: Told, work: Path, language: Language) -> str:
    """A command that shows what README.md's run printed, its sum in the page's language, in place of asking again."""
    key = pages.same_in_every_language(command)
    assert key in told.outputs, f"README.md does not run {key}"
    said, summed = (
        translator(language).gettext,
        re.compile(r"^(\d+) questions, (\d+) errors; database unchanged$", re.M),
    )
    found = summed.search(told.outputs[key])
    assert found, told.outputs[key]
    told_so = said("{n} questions, {errors} errors").format(n=found[1], errors=found[2])
    saved = work / f"{len(list(work.iterdir()))}.txt"
    saved.write_text(summed.sub(f"{told_so}; {said('database unchanged')}", told.outputs[key]), encoding="utf-8")
    return f"cp {told.files}/agent.json outputs/ && cat {saved}"


def run(page: Path, project: Path, told: Told, work: Path) -> dict[str, str]:
    """Run a page's blocks in order, in one shell between two blocks on a terminal; returns what each printed."""
    waiting: list[tuple[console.Block, str, str | None]] = []
    printed: dict[str, str] = {}

    def go() -> None:
        itself = told == NOTHING_TOLD  # README.md, and pages whose questions are their own
        lines = [
            c if itself or ASKS_30_QUESTIONS not in c else instead(c, told, work, pages.language(page))
            for _, c, _ in waiting
        ]
        ended = console.session(lines, project, pages.shell_environment(), LIMIT_S)
        for (block, command, expected), (status, output) in zip(waiting, ended, strict=False):
            assert status == 0, f"{block}: $ {command}\nstatus {status}\n{output}"
            assert expected is None or console.matches(expected, output), f"{block}: $ {command}\n{output}"
            printed[pages.same_in_every_language(command)] = output
        assert len(ended) == len(waiting)
        waiting.clear()

    for block in pages.runnable(page):
        if block.mark.startswith("keys: "):
            go()
            on_terminal(block, project)
        else:
            waiting += [(block, command, expected) for command, expected in block.steps()]
    go()
    return printed


def marked(page: Path) -> Any:
    """A page by its name; those that need answers of the real model are deep."""
    is_deep = needs_readme(page) or page.name.startswith(ASKS_ITSELF)
    return pytest.param(page, id=page.name, marks=pytest.mark.model if is_deep else ())


def needs_readme(page: Path) -> bool:
    return page.name.startswith("README") or page.name in AFTER_THE_ROUTE


@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("page", [marked(page) for page in pages.PAGES if page.name not in pages.OWN_SUITE])
def test_every_command_of_the_page_ends_well_and_prints_what_the_page_shows(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    told = request.getfixturevalue("told") if needs_readme(page) else NOTHING_TOLD
    if page == pages.README:
        assert told.outputs  # its run is the fixture, and has failed there if it did
        return
    project = pages.project_copy(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    if page.name in AFTER_THE_ROUTE:
        shutil.copytree(told.files, project / "outputs", dirs_exist_ok=True)
    run(page, project, told, work)


def test_the_blocks_that_are_not_run_are_these_and_each_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for page in pages.PAGES:
        if page.name in pages.OWN_SUITE:
            continue
        run_here = pages.runnable(page)
        for block in console.blocks(page):
            if block.language in pages.RUNNABLE and block not in run_here:
                reason = pages.ELSEWHERE.get(block.mark) or block.mark.removeprefix("not run: ")
                assert len(reason) > 10, f"{block}: a block that is not run needs a reason"
                found.append((page.name, block.mark))
                print(f"not run by this suite: {block}: {reason}", file=sys.stderr)
    assert sorted(found) == sorted(NOT_RUN)


def test_no_page_hides_a_command_in_an_indented_block() -> None:
    for page in pages.PAGES:
        for line in page.read_text(encoding="utf-8").splitlines():
            assert not re.match(r" {4}(\$ |\w+=\S+ )?(python|sh|bash|docker|pip|\./)[ /]", line), f"{page.name}: {line}"


def test_every_mark_is_one_that_a_runner_knows() -> None:
    for page in pages.PAGES:
        for block in console.blocks(page):
            known = block.mark in ("", *pages.ELSEWHERE) or block.mark.startswith(("not run: ", "keys: ", "run: "))
            assert known, f"{block}: {block.mark}"


def test_a_page_that_shows_another_output_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo one; echo two\none\nthree\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"page\.md:1"):
        run(page, tmp_path, NOTHING_TOLD, tmp_path)
    page.write_text("```console\n$ false\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="status 1"):
        run(page, tmp_path, NOTHING_TOLD, tmp_path)
    page.write_text("```console\n$ echo one; echo two; echo three\none\n…\n```\n", encoding="utf-8")
    run(page, tmp_path, NOTHING_TOLD, tmp_path)
