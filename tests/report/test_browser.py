"""The report's page in headless Chromium, opened from its file: filters, keyboard, narrow and dark, print.

Run alone: python -m pytest tests/report/test_browser.py (R3_SCREENSHOTS=DIR keeps the pictures)
"""

import base64
import itertools
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from src.report import content, question, render
from src.runs import runfile
from src.runs.outputs import Outputs
from tests.report import browser
from tests.report.conftest import MARKUP

WIDE, PHONE = 1200, 360
CONTRAST = """
const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number);
  return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b); };
const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
  if (!c.includes("rgba(0, 0, 0, 0)")) return c; } return getComputedStyle(document.body).backgroundColor; };
const low = [];
for (const e of document.querySelectorAll("body *")) {
  if (e.closest("[hidden]") || e.closest("svg") || e.tagName === "SCRIPT") continue;
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
  const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < 4.5) low.push(`${e.tagName}.${e.className}: ${e.textContent.trim().slice(0, 40)}`);
}
return [...new Set(low)];
"""
UNNAMED = """
return [...document.querySelectorAll("a, button, input, summary, [role=img], [role=region], section, nav")].filter(
  (e) => !(e.textContent.trim() || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby")
    || (e.labels && e.labels.length))
).map((e) => e.outerHTML.slice(0, 80));
"""

# The matrix: where its columns begin, the names of stages in sight, cells too small for their sign.
TOPS = "return [...document.querySelectorAll('.matrix thead a')].map((a) => Math.round(a.getBoundingClientRect().top))"
STAGE_NAMES = """
const names = [...document.querySelectorAll(".matrix tbody th span")].filter((s) => s.offsetWidth > 10);
return names.map((s) => s.textContent);
"""
NARROW = """
const cells = [...document.querySelectorAll(".matrix td")];
return cells.filter((c) => c.offsetWidth < 20 || c.scrollWidth > c.clientWidth).length;
"""


def keep(driver: Any, name: str, whole: bool = True) -> None:
    if folder := os.environ.get("R3_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        browser.screenshot(driver, Path(folder) / f"{name}.png", whole)


def shown(driver: Any) -> list[str]:
    """The ids of the questions in sight, in order."""
    script = "return [...document.querySelectorAll('.q')].filter((q) => !q.hidden).map((q) => q.id)"
    return list(driver.execute_script(script))


def flagged(outputs: Outputs, *flags: str) -> list[str]:
    """The ids that a filter for any of these flags must leave."""
    run = runfile.read(outputs.json("agent"), "")
    questions = content.content(run, None, None)["questions"]
    return [f"q{question['id']}" for question in questions if set(flags) & set(question["flags"])]


@pytest.mark.parametrize(
    ("which", "width", "dark"),
    [
        ("right", WIDE, False),
        ("broken", WIDE, False),
        ("broken", WIDE, True),
        ("broken", PHONE, False),
        ("broken", PHONE, True),
        pytest.param("thousand", WIDE, False, marks=pytest.mark.slow),
        pytest.param("thousand", PHONE, True, marks=pytest.mark.slow),
    ],
)
def test_the_page_opens_without_a_complaint_and_fits_the_screen(
    driver: Any, which: str, width: int, dark: bool, request: pytest.FixtureRequest
) -> None:
    page = render.report(request.getfixturevalue(which))
    browser.look(driver, page, width, dark)
    assert browser.complaints(driver) == []
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    keep(driver, f"{which}-{width}-{'dark' if dark else 'light'}", whole=which != "thousand")


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_has_enough_contrast(driver: Any, broken: Outputs, dark: bool) -> None:
    browser.look(driver, render.report(broken), WIDE, dark)
    driver.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    assert driver.execute_script(CONTRAST) == []


def test_everything_to_act_on_has_a_name(driver: Any, broken: Outputs) -> None:
    browser.look(driver, render.report(broken))
    assert driver.execute_script(UNNAMED) == []


def test_headings_skip_no_level(driver: Any, broken: Outputs) -> None:
    browser.look(driver, render.report(broken))
    levels = driver.execute_script("return [...document.querySelectorAll('h1,h2,h3,h4')].map((h) => +h.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_markup_and_script_in_an_answer_are_shown_as_text(driver: Any, broken: Outputs) -> None:
    browser.look(driver, render.report(broken))
    assert driver.title.startswith("Stock assistant")
    assert MARKUP in driver.execute_script("return document.querySelector('#q8').textContent")
    assert driver.execute_script("return document.querySelectorAll('img, .q script, .q b img').length") == 0
    assert driver.execute_script("return document.querySelectorAll('script').length") == 1


@pytest.mark.parametrize("flag", question.FILTERS)
def test_a_filter_leaves_the_questions_it_names(driver: Any, broken: Outputs, flag: str) -> None:
    browser.look(driver, render.report(broken))
    assert len(shown(driver)) == 30
    driver.find_element("css selector", f"input[value={flag}]").click()
    expected = flagged(broken, flag)
    assert 0 < len(expected) < 30
    assert shown(driver) == expected
    assert driver.find_element("id", "count").text == f"{len(expected)} of 30 questions shown"
    assert driver.execute_script("return document.querySelectorAll('a.off').length") == 30 - len(expected)
    assert driver.execute_script("return document.querySelectorAll('td.off').length") == 4 * (30 - len(expected))
    keep(driver, f"filter-{flag}")


def test_two_filters_leave_what_either_names_and_show_all_brings_back_the_rest(driver: Any, broken: Outputs) -> None:
    browser.look(driver, render.report(broken))
    for flag in ("number", "refused"):
        driver.find_element("css selector", f"input[value={flag}]").click()
    assert shown(driver) == flagged(broken, "number", "refused")
    driver.find_element("css selector", "button[type=reset]").click()
    driver.execute_async_script("setTimeout(arguments[0], 50)")
    assert len(shown(driver)) == 30


def test_words_find_a_question(driver: Any, broken: Outputs) -> None:
    browser.look(driver, render.report(broken))
    driver.find_element("id", "find").send_keys("ref-058")
    assert shown(driver) == ["q10"]


@pytest.mark.parametrize("cell", ["a[data-q='8']", "tbody tr:nth-child(2) td[data-q='8']"])
def test_a_cell_of_the_matrix_opens_its_question_even_when_a_filter_hides_it(
    driver: Any, broken: Outputs, cell: str
) -> None:
    browser.look(driver, render.report(broken))
    driver.find_element("css selector", "input[value=refused]").click()
    driver.find_element("css selector", cell).click()
    driver.execute_async_script("setTimeout(arguments[0], 100)")
    assert driver.execute_script("const q = document.querySelector('#q8'); return q.open && !q.hidden")
    assert driver.execute_script("return document.activeElement.closest('details').id") == "q8"


def test_the_keyboard_alone_reaches_and_uses_a_filter(driver: Any, broken: Outputs) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.look(driver, render.report(broken))
    body = driver.find_element("tag name", "body")
    body.send_keys(Keys.TAB)
    assert driver.switch_to.active_element.text == "Skip to the questions"
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    driver.switch_to.active_element.send_keys(Keys.TAB)
    for _ in range(20):
        if driver.switch_to.active_element.get_attribute("value") == "marker":
            break
        driver.switch_to.active_element.send_keys(Keys.TAB)
    driver.switch_to.active_element.send_keys(Keys.SPACE)
    assert shown(driver) == flagged(broken, "marker")


@pytest.mark.slow
def test_a_thousand_questions_are_filtered_and_unfolded(driver: Any, thousand: Outputs) -> None:
    browser.look(driver, render.report(thousand))
    driver.find_element("css selector", "input[value=slow]").click()
    assert shown(driver) == flagged(thousand, "slow")
    driver.find_element("css selector", "button[type=reset]").click()
    driver.find_element("id", "unfold").click()
    assert driver.execute_script("return document.querySelectorAll('.q[open]').length") == 1000
    assert browser.complaints(driver) == []


@pytest.mark.parametrize(("width", "columns"), [(WIDE, 15), (PHONE, 10)])
def test_the_matrix_wraps_in_groups_that_start_with_the_names_of_the_stages(
    driver: Any, broken: Outputs, width: int, columns: int
) -> None:
    browser.look(driver, render.report(broken), width)
    assert [len(list(line)) for _, line in itertools.groupby(driver.execute_script(TOPS))] == [columns] * (
        30 // columns
    )
    assert driver.execute_script(STAGE_NAMES) == [*content.STAGES, "delivered"] * (30 // columns)
    assert driver.execute_script(NARROW) == 0


def test_a_phone_stacks_the_refusals_and_breaks_no_name_of_a_measure(driver: Any, broken: Outputs) -> None:
    browser.look(driver, render.report(broken), PHONE)
    lefts = "return [...document.querySelector('.stack tbody tr').children].map((c) => c.getBoundingClientRect().left)"
    assert len(set(driver.execute_script(lefts))) == 1
    heights = "return [...document.querySelectorAll('#measures th code')].map((c) => c.getClientRects().length)"
    assert driver.execute_script(heights) == [1] * 5
    assert driver.execute_script("const w = document.querySelector('#measures .wide'); return w.scrollWidth") <= PHONE
    browser.look(driver, render.report(broken), WIDE)
    assert len(set(driver.execute_script(lefts))) == 4


def test_the_answer_has_the_widest_column(driver: Any, broken: Outputs) -> None:
    browser.look(driver, render.report(broken))
    driver.execute_script("document.querySelector('#q1').open = true")
    widths = driver.execute_script("return [...document.querySelectorAll('#q1 .stages li')].map((e) => e.offsetWidth)")
    assert widths[2] == max(widths) > max(widths[:2])


@pytest.mark.skipif(shutil.which("pdftotext") is None and not os.environ.get("CI"), reason="pdftotext is not here")
def test_print_shows_every_stage_on_few_pages_without_the_controls(
    driver: Any, broken: Outputs, tmp_path: Path
) -> None:
    browser.look(driver, render.report(broken))
    printed = driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    file = tmp_path / "report.pdf"
    file.write_bytes(base64.b64decode(printed["data"]))
    if folder := os.environ.get("R3_SCREENSHOTS"):
        shutil.copy(file, Path(folder) / "report.pdf")
    text = subprocess.run(["pdftotext", str(file), "-"], capture_output=True, text=True, check=True).stdout
    assert len(re.findall(r"^Observation$", text, re.MULTILINE)) == 30
    assert "Show only questions" not in text
    assert "chat_template_sha256" not in text and '"generation"' not in text  # the conditions stay closed
    assert text.count("\f") <= 10
    for page in text.split("\f"):  # no question is divided between two pages
        assert len(re.findall(r"^Proposal$", page, re.MULTILINE)) == len(re.findall(r"^Answer$", page, re.MULTILINE))
