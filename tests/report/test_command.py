"""`report` as a command: the browser, the language, the other run, and the records beside the page.

Run alone: python -m pytest tests/report/test_command.py
"""

import json
import re
import webbrowser
from pathlib import Path
from typing import Any

import pytest

from src.base.messages import translator
from src.cli import main
from src.report import render, texts
from src.runs.outputs import Outputs


@pytest.fixture
def run(right: Outputs) -> Any:
    """A copy of the right run's record, to be changed."""
    return json.loads(right.json("agent").read_text(encoding="utf-8"))


def written(folder: Path, run: Any) -> Outputs:
    folder.mkdir(exist_ok=True)
    (folder / "agent.json").write_text(json.dumps(run), encoding="utf-8")
    return Outputs(folder)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that were given to the browser; no screen, unless the test makes one."""
    addresses: list[str] = []

    def note(address: str) -> bool:
        addresses.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", note)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    return addresses


def test_open_gives_the_page_to_the_browser(
    run: Any, tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = written(tmp_path / "a b", run)
    monkeypatch.setenv("DISPLAY", ":0")
    assert main(["--outputs", str(outputs.folder), "report", "--open"]) == 0
    assert opened == [(outputs.folder / "report.html").as_uri()]


def test_without_a_screen_open_starts_nothing_and_says_where_the_page_is(
    run: Any, tmp_path: Path, opened: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = written(tmp_path / "a", run)
    assert main(["--outputs", str(outputs.folder), "report", "--open"]) == 0
    assert opened == []
    said = capsys.readouterr()
    assert said.out == f"{outputs.folder / 'report.html'}\n"
    assert said.err.count("\n") == 1 and str(outputs.folder / "report.html") in said.err


@pytest.mark.parametrize(
    ("option", "variable", "expected"),
    [([], None, "vi"), ([], "es", "es"), (["--lang", "fr"], "es", "fr"), (["--lang", "en"], None, "en")],
)
def test_the_page_speaks_the_language_named_else_that_of_the_environment_else_the_runs(
    run: Any,
    tmp_path: Path,
    option: list[str],
    variable: str | None,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run["provenance"]["language"] = "vi"
    monkeypatch.delenv("R3_LANG", raising=False)
    if variable:
        monkeypatch.setenv("R3_LANG", variable)
    outputs = written(tmp_path / "a", run)
    assert main(["--outputs", str(outputs.folder), "report", *option]) == 0
    page = (outputs.folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith(f'<!doctype html>\n<html lang="{expected}">')
    assert page.count('<span lang="vi">') == 30  # the questions stay as they were asked


@pytest.mark.parametrize(
    ("language", "date", "time"),
    [
        ("en", "30 November 2026, 16:46 UTC", "8.1 s"),
        ("es", "30 de noviembre de 2026, 16:46 UTC", "8,1 s"),
        ("vi", "30 tháng 11 năm 2026, 16:46 UTC", "8,1 s"),
        ("fr", "30 novembre 2026, 16:46 UTC", "8,1 s"),
    ],
)
def test_a_date_and_a_figure_are_written_as_the_language_writes_them(language: Any, date: str, time: str) -> None:
    assert texts.moment("2026-11-30T16:46:12+00:00", translator(language)) == date
    assert texts.duration(8123.45, translator(language)).replace("\u00a0", " ") == time


def test_a_french_refusal_stays_and_has_its_meaning_beneath_it(broken: Outputs) -> None:
    record = json.loads(broken.json("agent").read_text(encoding="utf-8"))
    said = '<span lang="fr">Outil interdit ou appel mal formé</span>'
    spanish, french = (render.page(record, None, None, language) for language in ("es", "fr"))
    assert f"{said}<br><small>herramienta prohibida o llamada mal formada</small>" in spanish
    assert said in french and f"{said}<br>" not in french


def test_the_other_run_stands_beside_what_came_out_differently(run: Any, tmp_path: Path) -> None:
    other = json.loads(json.dumps(run))
    other["provenance"]["server"]["model"] = "Another <b>model</b>"
    other["results"][1]["answer"]["raw"] = "There are 90 units."
    other["results"][2]["answer"]["raw"] = "There are 69 units."
    written(tmp_path / "run-001", other)
    outputs = written(tmp_path / "run-002", run)
    assert main(["--outputs", str(outputs.folder), "report", "--against", str(tmp_path / "run-001")]) == 0
    page = (outputs.folder / "report.html").read_text(encoding="utf-8")
    assert 'data-show="better">1 better</a>' in page
    assert 'data-show="changed">1 different, neither better nor worse</a>' in page
    assert "<li>0 worse</li>" in page and "<li>28 the same, word for word</li>" in page
    assert re.search(r"<code>server.model</code></th><td>&#34;Another &lt;b&gt;model&lt;/b&gt;&#34;</td><td>", page)
    assert page.count("<h4>Answer, run-001</h4>") == 2
    assert re.search(r">There are .*90", page[page.index('id="q1"') : page.index('id="q2"')])
    letters = "".join(re.findall(r'value="(?:better|changed)" data-letter="(\w)"', page))
    assert re.findall(rf'<details class="q" id="q(\d+)" data-flags="\w*[{letters}]', page) == ["1", "2"]


def test_a_run_about_other_questions_is_refused_and_the_page_stays(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = json.loads(json.dumps(run))
    other["results"][0]["ref"] = "REF-123"
    written(tmp_path / "run-001", other)
    outputs = written(tmp_path / "run-002", run)
    (outputs.folder / "report.html").write_text("before", encoding="utf-8")
    assert main(["--outputs", str(outputs.folder), "report", "--against", str(tmp_path / "run-001")]) == 2
    assert "cannot be put side by side" in capsys.readouterr().err
    assert (outputs.folder / "report.html").read_text(encoding="utf-8") == "before"


def test_records_are_linked_where_they_lie_beside_the_page(run: Any, right: Outputs, tmp_path: Path) -> None:
    alone = render.report(written(tmp_path / "a", run)).read_text(encoding="utf-8")
    assert re.findall(r'href="(\w+\.json)"', alone) == ["agent.json"]
    assert re.findall(r'href="(\w+\.json)"', render.report(right).read_text(encoding="utf-8")) == [
        "agent.json",
        "evaluation.json",
        "negatives.json",
    ]
    assert not re.findall(r'href="\w+\.json"', render.page(run, None, None))


def test_a_long_list_of_questions_unfolds_to_the_rest(right: Outputs) -> None:
    page = render.report(right).read_text(encoding="utf-8")
    row = page[page.index("states the observation and nothing else") :]
    first, more = row[: row.index("</tr>")].split('<details class="more"><summary>… and 10 more</summary>')
    numbers = [re.findall(r'<a href="#q(\d+)">\1</a>', part) for part in (first, more)]
    assert numbers == [[str(n) for n in range(20)], [str(n) for n in range(20, 30)]]


def test_servers_that_shared_the_questions_are_named(run: Any) -> None:
    run["provenance"]["server"] |= {"replicas": 3, "slots": 4}
    assert "<b>3 servers of 4 slots</b>" in render.page(run, None, None)
    run["provenance"]["server"]["replicas"] = 1
    assert "servers of" not in render.page(run, None, None)
