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

from src.base.errors import Precondition
from src.base.messages import translator
from src.cli import main
from src.measures import verdicts
from src.report import content, render, texts
from src.report.records import Panel
from src.runs.outputs import Outputs
from src.runs.results import CHECKS
from tests.report.conftest import MARKUP, make_run
from tests.support.depth import few
from tests.support.instant_server import honest

ENDS_A_PARAGRAPH = {"details", "div", "ol", "p", "table", "ul"}
ENGLISH = translator("en")
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
        if tag in ENDS_A_PARAGRAPH and "p" in self.open:
            self.unmatched.append(f"{tag} in p")
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
    source = render.report(outputs).read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(source)
    return source, reader


def test_the_page_asks_for_nothing_from_elsewhere(broken: Outputs) -> None:
    _, reader = read(broken)
    addresses = [value for _, attrs in reader.elements for key, value in attrs.items() if key in ("src", "href")]
    assert addresses
    beside = {f"{name}.json" for name in render.RECORDS}
    assert all(address is not None and (address.startswith("#") or address in beside) for address in addresses)
    assert not {"link", "img", "iframe", "object", "embed", "base"} & {tag for tag, _ in reader.elements}


def test_the_policy_allows_the_two_inline_texts_and_nothing_else(right: Outputs) -> None:
    source, reader = read(right)
    policy = next(a["content"] for _, a in reader.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    script = re.search(r"<script>(.*?)</script>", source, re.DOTALL)
    assert script is not None
    assert render._hash(script[1]) in policy
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


@pytest.mark.parametrize("which", few(["right", "broken", "thousand"], 2))
def test_tags_match_and_names_are_unique(which: str, request: pytest.FixtureRequest) -> None:
    _, reader = read(request.getfixturevalue(which))
    assert (reader.unmatched, reader.open) == ([], [])
    names = [attrs["id"] for _, attrs in reader.elements if "id" in attrs]
    assert len(names) == len(set(names))
    links = {str(attrs["href"])[1:] for tag, attrs in reader.elements if tag == "a" and str(attrs["href"])[0] == "#"}
    assert links <= set(names)


def questions_of(outputs: Outputs) -> list[Panel]:
    """The questions as the page shows them."""
    run = json.loads(outputs.json("agent").read_text(encoding="utf-8"))
    return content.content(run, None, None, ENGLISH)["questions"]


def said(reader: Reader) -> str:
    """The text of the page with its white space folded."""
    return " ".join("".join(reader.text).split())


def test_every_outcome_and_the_check_that_decided_are_shown(broken: Outputs) -> None:
    source, reader = read(broken)
    questions = questions_of(broken)
    assert {question["outcome"] for question in questions} == set(verdicts.OUTCOMES) - {"unjudged"}
    decided = {check for question in questions for state, check in question["checks"] if state == "refused"}
    assert decided == set(CHECKS)
    for words in ("Proposition tronquée", "Outil interdit ou appel mal formé", "Référence ou arguments invalides"):
        assert re.search(f'Decided: <span lang="fr">{words}[^<]*</span><br><small>', source)
    assert "made from the observation" in source
    assert "sentences replaced" in said(reader)


def test_a_sentence_about_another_product_is_not_shown_as_right(other: Outputs) -> None:
    source, reader = read(other)
    question = questions_of(other)[2]
    assert (question["outcome"], question["clean"], question["flags"][0]) == ("other", False, "another_product")
    assert [kind for kind, _, _ in question["cells"]] == ["right", "other", "right"]
    assert question["summary"].startswith("asked REF-012, read REF-007: stock 9 · said “9” · no fault found · ")
    text = said(reader)
    assert "29 of 30 read correctly · 29 of 30 sentences without a fault 0 refused" in text
    assert '<a href="#q2">question 2 asked REF-012, read REF-007</a>' in source
    assert "Decided: asked REF-012, proposed REF-007" in text
    assert re.search(
        r'another product was read</th><td[^>]*><a href="#questions" [^>]*>1</a></td><td><a href="#q2">2</a>', source
    )


def test_questions_without_a_reference_are_not_called_right(right: Outputs) -> None:
    run = json.loads(right.json("agent").read_text(encoding="utf-8"))
    for result in run["results"]:
        del result["ref"]
    page = render.page(run, None, None)
    assert {q["outcome"] for q in content.content(run, None, None, ENGLISH)["questions"]} == {"unjudged"}
    assert "30 of 30 read without a reference to compare with" in page
    assert "read correctly" not in page


def test_a_run_that_reads_right_from_a_database_of_other_records_is_contradicted(right: Outputs) -> None:
    run, evaluation = (json.loads(right.json(name).read_text(encoding="utf-8")) for name in ("agent", "evaluation"))
    assert "the database held other records" not in render.page(run, evaluation, None)
    evaluation["measures"]["observation_correct"] = 0.9
    assert "27 of 30 observations are right" in render.page(run, evaluation, None)


def test_the_verdict_names_the_counts_and_the_most_frequent_faults(broken: Outputs) -> None:
    source, reader = read(broken)
    questions = questions_of(broken)
    counts = {outcome: sum(q["outcome"] == outcome for q in questions) for outcome in verdicts.OUTCOMES}
    right = counts["right"] + counts["wording"] + counts["missing"] + counts["cut"]
    failed_after_reading = sum(q["outcome"] == "failed" and q["observation"] is not None for q in questions)
    text = said(reader)
    assert f"{right + failed_after_reading} of 30 read correctly · {counts['right']} of 30 sentences without" in text
    for flag, words in (("unsupported_number", "with another number"), ("cut", "cut off"), ("refused", "refused")):
        number = sum(flag in q["flags"] for q in questions)
        assert number and f'data-show="{flag}">{number} {words}</a>' in source


def test_verdict_and_matrix_come_before_questions_and_these_before_the_measures(broken: Outputs) -> None:
    _, reader = read(broken)
    sections = [attrs["id"] for tag, attrs in reader.elements if tag == "section"]
    assert sections == ["outcomes", "questions", "measures", "beyond", "time", "refusals", "conditions"]


@pytest.mark.parametrize(("which", "rows"), [("right", 3), ("broken", 4)])
def test_the_matrix_has_a_row_for_each_stage_and_a_linked_column_for_each_question(
    which: str, rows: int, request: pytest.FixtureRequest
) -> None:
    outputs = request.getfixturevalue(which)
    source, _ = read(outputs)
    matrix = source[source.index('<div class="matrix">') : source.index('<ul class="legend"')]
    assert re.findall(r'<a href="#q(\d+)" data-q', matrix) == [str(number) for number in range(30)]
    cells = re.findall(r'<td class="(\w+)" data-q="(\d+)"[^>]*><span aria-hidden="true">(.)</span>', matrix)
    assert len(cells) == 30 * rows
    for shown in questions_of(outputs):
        column = [(kind, sign) for kind, identifier, sign in cells if int(identifier) == shown["id"]]
        assert column == [(kind, sign) for kind, sign, _ in shown["cells"]]
    stages = [*content.STAGES, "delivered"][:rows]
    assert re.findall(r'<th scope="row"><span>(\w+)</span>', matrix) == stages * 6


def test_no_two_outcomes_share_a_sign() -> None:
    signs = [sign for sign, _ in verdicts.OUTCOMES.values()]
    assert len(set(signs)) == len(signs) and all(len(sign) == 1 for sign in signs)


def lightness(colour: str) -> float:
    """The relative luminance of `#rrggbb` (WCAG 2.2)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted([lightness(one), lightness(other)])
    return (high + 0.05) / (low + 0.05)


def test_signs_are_legible_and_faults_differ_from_what_is_right_by_lightness_alone() -> None:
    """On the light page, the dark and the printed one; axe judges no text of a single sign."""
    style = (render.HERE / "page.css").read_text(encoding="utf-8")
    pages = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    assert len(pages) == 3
    for page in pages:
        colours = dict(re.findall(r"--([\w-]+): (#\w{6});", page))
        assert contrast(colours["right"], colours["right-ground"]) >= 4.5
        for outcome in set(verdicts.OUTCOMES) - {"right", "unjudged"}:
            assert contrast(colours["sign"], colours[outcome]) >= 4.5, outcome
            assert contrast(colours["right-ground"], colours[outcome]) >= 3, outcome


def test_a_stage_that_was_not_reached_is_neither_right_nor_wrong(broken: Outputs) -> None:
    signs = {q["id"]: "".join(sign for _, sign, _ in q["cells"]) for q in questions_of(broken)}
    assert signs[3] == "■–––"  # delete: refused
    assert signs[6] == "!–––"  # no usable reply
    assert signs[1] == "✓✓∅✓"  # 90 for 9, replaced
    assert signs[10] == "✓✓…✓"  # cut, and nothing worse
    assert signs[24] == "✓≠✓≠"  # REF-010 for REF-059
    assert signs[12] == "✓✓!✓"  # the second generation failed


def test_a_closed_question_shows_its_evidence(broken: Outputs) -> None:
    summaries = {q["id"]: q["summary"] for q in questions_of(broken)}
    assert summaries[1].startswith("stock 9 · said “There are 90 units.” · result missing, another number · replaced ")
    assert summaries[10].startswith("stock 21 · said “21 and so on and so on")
    assert "…” · cut off · replaced" in summaries[10]
    assert summaries[9].startswith("not found · said “The stock of REF-999 is 12.” · result missing, another number,")
    assert summaries[3].startswith("refused (tool and shape): forbidden tool or malformed call · ")
    assert summaries[6].startswith("failed: ")
    assert summaries[14].startswith("stock 83 · said “83” · no fault found · ")


@pytest.mark.parametrize(
    ("answer", "marked"),
    [("9 units, <b>arrive</b> tomorrow", ["b", "arrive", "b", "tomorrow"]), ("9 units in stock.", [])],
)
def test_the_words_that_no_list_allows_are_marked_in_the_sentence(
    broken: Outputs, answer: str, marked: list[str]
) -> None:
    run = json.loads(broken.json("agent").read_text(encoding="utf-8"))
    result = run["results"][0]
    result["answer"]["raw"], result["trace"][0]["observation"] = answer, {"ref": "REF-007", "name": "P", "stock": 9}
    page = render.page(run | {"results": [result]}, None, None)
    found = re.findall("<mark>(.*?)</mark>", page)
    assert [word for word in found if word.isalpha()] == marked
    assert "<b>arrive" not in page


def test_a_reason_of_the_run_that_the_lists_of_today_do_not_give_is_shown(broken: Outputs) -> None:
    run = json.loads(broken.json("agent").read_text(encoding="utf-8"))
    result = run["results"][0]
    result["answer"]["raw"], result["trace"][0]["observation"]["stock"] = "1,234", 1234
    result["delivered"] = {"text": "The stock is 1234.", "source": "observation", "reasons": ["figure_missing"]}
    page = render.page(run | {"results": [result]}, None, None)
    assert "no fault found" in page
    assert "Delivered (made from the observation): lacks the observed result<br>" in page


def test_the_published_marker_and_the_number_are_told_apart(broken: Outputs) -> None:
    flags = {q["id"]: q["flags"] for q in questions_of(broken)}
    assert "figure_missing" in flags[1] and "no_marker" not in flags[1]  # 9 stands inside 90
    assert "no_marker" in flags[3] and "figure_missing" not in flags[3]  # refused: no sentence to judge


def test_a_proposal_is_shown_on_one_line_and_kept_as_written(right: Outputs) -> None:
    run = json.loads(right.json("agent").read_text(encoding="utf-8"))
    written = '{\n  "outil": "consulter_stock",\n  "arguments": {"ref": "REF-000"}\n}'
    twice = '{"outil": "delete", "outil": "consulter_stock",\n "arguments": {"ref": "REF-007"}}'
    run["results"][0]["proposal"]["raw"], run["results"][1]["proposal"]["raw"] = written, twice
    reader = Reader()
    reader.feed(render.page(run, None, None))
    titles = [str(attrs["title"]) for tag, attrs in reader.elements if tag == "pre" and "title" in attrs]
    assert titles == [f"as written: {written}"]
    assert '{"outil": "consulter_stock", "arguments": {"ref": "REF-000"}}' in reader.text
    assert twice in reader.text  # to fold it would lose a key


@pytest.mark.parametrize("length", [20, 200])
def test_the_question_is_repeated_only_where_its_heading_is_shortened(right: Outputs, length: int) -> None:
    run = json.loads(right.json("agent").read_text(encoding="utf-8"))
    run["results"][0]["query"] = "q" * length
    assert render.page(run, None, None).count("<h4>Question</h4>") == (length > 100)


def test_published_figures_are_labelled_as_not_ours(right: Outputs) -> None:
    source, _ = read(right)
    assert "not ours" in source
    assert "247.34 · 247.41 ms" in source
    assert source.count(">R3 published</th>") == 1


def test_a_share_has_its_count_a_count_of_one_no_plural_and_a_row_of_zeros_is_muted(other: Outputs) -> None:
    source, _ = read(other)
    assert "0.9667<small>29 of 30</small>" in source
    assert '<tr class="zero"><th scope="row">cut by the token limit</th>' in source
    assert '<tr><th scope="row">another product was read</th>' in source
    run = json.loads(other.json("agent").read_text(encoding="utf-8"))
    one = render.page(run | {"results": run["results"][:1]}, None, None)
    assert "<p>1 question in <b>English</b>" in one
    assert "1 questions" not in one


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-11-30T16:46:12+00:00", "30 November 2026, 16:46 UTC"),
        ("2026-11-30T16:46:12+02:00", "30 November 2026, 14:46 UTC"),
        ("2026-11-30T16:46:12", "2026-11-30T16:46:12"),
        ("soon\x1b", "soon\\x1b"),
        (7, "7"),
        (None, ""),
    ],
)
def test_a_time_is_written_for_a_person_and_a_foreign_one_as_it_stands(value: Any, expected: str) -> None:
    assert texts.moment(value, ENGLISH) == expected


@pytest.mark.parametrize(
    ("milliseconds", "expected"), [(8123.45, "8.1 s"), (1000, "1.0 s"), (247.34, "247 ms"), (0.42, "0.4 ms")]
)
def test_a_time_is_in_seconds_from_one_second_on(milliseconds: float, expected: str) -> None:
    assert texts.duration(milliseconds, ENGLISH).replace("\u00a0", " ") == expected


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


@pytest.mark.slow
def test_a_thousand_questions_stay_under_two_megabytes(thousand: Outputs) -> None:
    source, _ = read(thousand)
    assert source.count('<details class="q"') == 1000
    assert len(source.encode()) < 2_000_000


@pytest.mark.slow
def test_of_ten_thousand_questions_each_is_found_and_those_that_went_wrong_have_their_stages(thousand: Outputs) -> None:
    run = json.loads(thousand.json("agent").read_text(encoding="utf-8"))
    some = run["results"]
    run["results"] = [{**some[number % len(some)], "id": number} for number in range(10_000)]
    assert len(render.page(run, None, None, "vi").encode()) < 2_000_000  # its letters take the most bytes
    source = render.page(run, None, None)
    assert len(source.encode()) < 2_000_000
    assert [int(number) for number in re.findall(r' id="q(\d+)"', source)] == list(range(10_000))
    told = content.content(run, None, None, ENGLISH)["questions"]
    lines = dict(re.findall(r'<p class="q" id="q(\d+)"[^>]*>(.*?)</p>', source))
    assert all(run["results"][int(number)]["ref"] in line for number, line in lines.items())
    detailed = [q for q in told if str(q["id"]) not in lines]
    assert len(detailed) > 100 and all(q["outcome"] != "right" for q in detailed)
    assert f"Of so many questions {len(detailed)} have their stages here" in source


@pytest.mark.parametrize("text", few(["a", '"<&>', "\u202e"]))
def test_texts_of_any_length_and_kind_stay_under_two_megabytes(thousand: Outputs, text: str) -> None:
    run = json.loads(thousand.json("agent").read_text(encoding="utf-8"))
    long = text * (800 // len(text))
    for result in run["results"]:
        result["query"] = long
        result["error"] = result["error"] and long
        for stage in ("proposal", "answer"):
            if result[stage]:
                result[stage]["raw"] = json.dumps({"said": long}, ensure_ascii=False, indent=1)
        if result["delivered"]:
            result["delivered"]["text"] = long
    assert len(render.page(run, None, None).encode()) < 2_000_000


def test_no_run_is_a_line_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--outputs", str(tmp_path), "report"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "report.html").exists()


def test_without_the_template_library_the_command_says_what_to_install(
    right: Outputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(Precondition, match="pip install"):
        render.report(right)


def test_a_lone_surrogate_reaches_the_page_as_its_escape(tmp_path: Path, right: Outputs) -> None:
    run = json.loads(right.json("agent").read_text(encoding="utf-8"))
    run["results"][0]["answer"]["raw"] = "\ud800 9"
    assert "\\ud800 9" in render.page(run, None, None)


def test_no_text_of_any_result_file_reaches_the_page_unescaped(tmp_path: Path, right: Outputs) -> None:
    """Also where the template bounds nothing: the title, a count that is a text, the attempts of `negatives`."""
    odd, outputs = "\ud800\u202e\x1b", Outputs(tmp_path)
    run = json.loads(right.json("agent").read_text(encoding="utf-8"))
    run["provenance"]["server"] |= {"model": odd, "build": odd, "device": odd}
    checks = [{"kind": odd, "attempt": odd, "refused": True, "reason": odd}]
    made = {"checks": checks, "refused": odd, "attempted": odd, "unchanged": odd, "digest_before": odd}
    outputs.json("agent").write_text(json.dumps({**run, "digest_after": odd}))
    outputs.json("negatives").write_text(json.dumps(made))
    page = render.report(outputs).read_text(encoding="utf-8")
    assert not [character for character in odd if character in page] and "\\u202e" in page
    assert "\xa0ms" in page and "\\xa0" not in page, "our own spaces between number and unit are no foreign text"
