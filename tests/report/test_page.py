"""The report's page, without a browser: what it holds, what it escapes, how large it is.

Run alone: python -m pytest tests/report/test_page.py
"""

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from src import report, report_content
from src.cli import main
from src.errors import Precondition
from src.outputs import Outputs
from tests.report.conftest import MARKUP, make_run
from tests.support.instant_server import honest

VOID = {"meta", "input", "br", "img", "link", "hr"}


class Reader(HTMLParser):
    """Collects the elements of a page, its text, and tags that do not match."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.unmatched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unmatched.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(outputs: Outputs) -> tuple[str, Reader]:
    source = report.report(outputs).read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(source)
    return source, reader


def test_the_page_asks_for_nothing_from_elsewhere(broken: Outputs) -> None:
    _, reader = read(broken)
    addresses = [value for _, attrs in reader.elements for key, value in attrs.items() if key in ("src", "href")]
    assert addresses
    assert all(address is not None and address.startswith("#") for address in addresses)
    assert not {"link", "img", "iframe", "object", "embed", "base"} & {tag for tag, _ in reader.elements}


def test_the_policy_allows_the_two_inline_texts_and_nothing_else(right: Outputs) -> None:
    source, reader = read(right)
    policy = next(a["content"] for _, a in reader.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    script = re.search(r"<script>(.*?)</script>", source, re.DOTALL)
    assert script is not None
    assert report._hash(script[1]) in policy
    assert not [attrs for _, attrs in reader.elements if any(key.startswith("on") or key == "style" for key in attrs)]


def test_what_the_model_wrote_is_text_and_not_markup(broken: Outputs) -> None:
    source, reader = read(broken)
    run = json.loads(broken.json("agent").read_text(encoding="utf-8"))
    texts = [text for result in run["results"] for text in (result["answer"], result.get("delivered")) if text]
    written = sum(text.get("raw", text.get("text")) == MARKUP for text in texts)
    assert "".join(reader.text).count(MARKUP) == written > 0
    assert sum(tag == "script" for tag, _ in reader.elements) == 1
    assert "\x1b" not in source
    assert "\u202e" not in source
    assert "\\u202eevil\\x1b[31m" in source


@pytest.mark.parametrize("which", ["right", "broken", "thousand"])
def test_tags_match_and_names_are_unique(which: str, request: pytest.FixtureRequest) -> None:
    _, reader = read(request.getfixturevalue(which))
    assert (reader.unmatched, reader.open) == ([], [])
    names = [attrs["id"] for _, attrs in reader.elements if "id" in attrs]
    assert len(names) == len(set(names))
    links = {str(attrs["href"])[1:] for tag, attrs in reader.elements if tag == "a"}
    assert links <= set(names)


def test_every_outcome_and_the_check_that_decided_are_shown(broken: Outputs) -> None:
    source, _ = read(broken)
    run = json.loads(broken.json("agent").read_text(encoding="utf-8"))
    questions = report_content.content(run, None, None)["questions"]
    assert {question["outcome"] for question in questions} == set(report_content.OUTCOMES)
    decided = {check for question in questions for state, check in question["checks"] if state == "refused"}
    assert decided == set(report_content.CHECKS)
    for words in ("Proposition tronquée", "Outil interdit ou appel mal formé", "Référence ou arguments invalides"):
        assert f"Decided: {words}" in source
    assert "made from the observation" in source


def test_published_figures_are_labelled_as_not_ours(right: Outputs) -> None:
    source, _ = read(right)
    assert "not ours" in source
    assert source.count("R3 published 1") == 1
    assert "247.34" in source


def test_a_missing_file_is_said_with_the_command_that_makes_it(tmp_path: Path) -> None:
    outputs = make_run(Outputs(tmp_path / "run"), honest)
    outputs.json("evaluation").unlink()
    outputs.json("negatives").unlink()
    source, _ = read(outputs)
    assert "python -m src.cli evaluate" in source
    assert "python -m src.cli negatives" in source
    assert source.count('<details class="q"') == 30


def test_an_evaluation_of_another_run_is_not_shown(tmp_path: Path, broken: Outputs) -> None:
    outputs = make_run(Outputs(tmp_path / "run"), honest)
    outputs.json("evaluation").write_bytes(broken.json("evaluation").read_bytes())
    source, _ = read(outputs)
    assert "measures another run" in source
    assert "247.34" not in source


@pytest.mark.parametrize("content", ["[]", "{}", '{"checks": 5}', '{"measures": {}, "published": 1, "beyond": []}'])
def test_a_file_of_another_form_is_said_and_not_shown(tmp_path: Path, content: str) -> None:
    outputs = make_run(Outputs(tmp_path / "run"), honest)
    outputs.json("evaluation").write_text(content, encoding="utf-8")
    outputs.json("negatives").write_text(content, encoding="utf-8")
    source, _ = read(outputs)
    assert "python -m src.cli evaluate" in source
    assert "python -m src.cli negatives" in source
    assert "247.34" not in source


def test_an_attempt_that_got_through_is_shown_as_such(tmp_path: Path) -> None:
    outputs = make_run(Outputs(tmp_path / "run"), honest)
    found = json.loads(outputs.json("negatives").read_text(encoding="utf-8"))
    found["checks"][0].update(refused=False, reason="it went through")
    outputs.json("negatives").write_text(json.dumps(found), encoding="utf-8")
    source, _ = read(outputs)
    assert source.count("<b>got through</b>") == 1


def test_a_thousand_questions_stay_under_two_megabytes(thousand: Outputs) -> None:
    source, _ = read(thousand)
    assert source.count('<details class="q"') == 1000
    assert len(source.encode()) < 2_000_000


def test_texts_of_any_length_stay_under_two_megabytes(tmp_path: Path, thousand: Outputs) -> None:
    run = json.loads(thousand.json("agent").read_text(encoding="utf-8"))
    for result in run["results"]:
        result["query"] = "q" * 5000
        for stage in ("proposal", "answer"):
            if result[stage]:
                result[stage]["raw"] = "a" * 5000
    assert len(report.page(run, None, None).encode()) < 2_000_000


def test_no_run_is_a_line_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--outputs", str(tmp_path), "report"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "report.html").exists()


def test_without_the_template_library_the_command_says_what_to_install(
    right: Outputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(Precondition, match="pip install"):
        report.report(right)


def test_a_lone_surrogate_reaches_the_page_as_its_escape(tmp_path: Path, right: Outputs) -> None:
    run: dict[str, Any] = json.loads(right.json("agent").read_text(encoding="utf-8"))
    run["results"][0]["answer"]["raw"] = "\ud800 9"
    assert "\\ud800 9" in report.page(run, None, None)
