"""The report's page in headless Chromium, opened from its file: filters, keyboard, narrow and dark, print.

Run alone: python -m pytest tests/report/test_browser.py (R3_SCREENSHOTS=DIR keeps the pictures)
"""

import base64
import itertools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from src.base.messages import translator
from src.base.records import Language
from src.report import content, render
from src.report.against import Other
from src.runs import runfile, store
from src.runs.outputs import Outputs
from tests.report import browser
from tests.report.conftest import MARKUP
from tests.support.depth import few

WIDE, PHONE = 1200, 360
ENGLISH = translator("en")
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


def click(driver: Any, selector: str) -> None:
    """Click in the middle of the screen; the driver itself would scroll an element under the bar."""
    element = driver.find_element("css selector", selector)
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()


def shown(driver: Any) -> list[str]:
    """The ids of the questions in sight, in order."""
    script = "return [...document.querySelectorAll('.q')].filter((q) => !q.hidden).map((q) => q.id)"
    return list(driver.execute_script(script))


def beside_another(outputs: Outputs, language: Language) -> Path:
    """The page with another run beside it: all that a page can have, on one."""
    run = runfile.read(outputs.json("agent"), "")
    other = json.loads(json.dumps(run))
    for result in other["results"][::3]:
        result.update(answer=None, error="the model server is gone")
    evaluation, negatives = (store.read_json(outputs.json(name), "") for name in ("evaluation", "negatives"))
    page = render.page(run, evaluation, negatives, language, Other(other, "run-001", None), ["agent"])
    return store.write_text(outputs.folder / f"beside-{language}.html", page)


def flagged(outputs: Outputs, *flags: str) -> list[str]:
    """The ids that a filter for any of these flags must leave."""
    run = runfile.read(outputs.json("agent"), "")
    questions = content.content(run, None, None, ENGLISH)["questions"]
    return [f"q{question['id']}" for question in questions if set(flags) & set(question["flags"])]


@pytest.mark.parametrize(
    ("which", "width", "dark"),
    few(
        [
            ("right", WIDE, False),
            ("broken", PHONE, True),
            ("broken", PHONE, False),
            ("broken", WIDE, False),
            ("broken", WIDE, True),
            ("thousand", WIDE, False),
            ("thousand", PHONE, True),
        ],
        2,
    ),
)
def test_the_page_opens_without_a_complaint_and_fits_the_screen(
    driver: Any, which: str, width: int, dark: bool, request: pytest.FixtureRequest
) -> None:
    page = render.report(request.getfixturevalue(which))
    browser.look(driver, page, width, dark)
    assert browser.complaints(driver) == []
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    keep(driver, f"{which}-{width}-{'dark' if dark else 'light'}", whole=which != "thousand")


@pytest.mark.parametrize(
    ("which", "language", "width", "dark"),
    few([("other", "vi", PHONE, False), ("broken", "en", WIDE, False), ("broken", "es", WIDE, True)]),
)
def test_axe_finds_no_barrier(
    driver: Any, which: str, language: Language, width: int, dark: bool, request: pytest.FixtureRequest
) -> None:
    from axe_core_python.selenium import Axe

    browser.look(driver, beside_another(request.getfixturevalue(which), language), width, dark)
    driver.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    found = Axe().run(driver)
    assert [(broken["id"], [node["html"] for node in broken["nodes"]]) for broken in found["violations"]] == []
    assert len(found["passes"]) > 30


def test_markup_and_script_in_an_answer_are_shown_as_text(driver: Any, broken: Outputs) -> None:
    browser.look(driver, render.report(broken))
    assert driver.title.startswith("Stock assistant")
    assert MARKUP in driver.execute_script("return document.querySelector('#q8').textContent")
    assert driver.execute_script("return document.querySelectorAll('img, .q script, .q b img').length") == 0
    assert driver.execute_script("return document.querySelectorAll('script').length") == 1


# Ink far outside of its own line, as a letter with two hundred combining marks has it where a font stacks them.
STRAY = """
const ink = document.createElement("span");
ink.textContent = "0";
ink.style.cssText = `position: relative; top: ${arguments[0]}px`;
document.querySelector("#q15 summary").append(ink);
ink.scrollIntoView({block: "center"});
const box = ink.getBoundingClientRect();
return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === ink;
"""


@pytest.mark.parametrize(("away", "seen"), [(0, True), (-90, False), (60, False)])
def test_what_a_question_paints_outside_of_its_box_is_over_no_other_question(
    driver: Any, right: Outputs, away: int, seen: bool
) -> None:
    browser.look(driver, render.report(right))
    assert driver.execute_script(STRAY, away) is seen


def test_each_filter_leaves_the_questions_it_names(driver: Any, broken: Outputs) -> None:
    browser.look(driver, render.report(broken))
    assert len(shown(driver)) == 30
    boxes = driver.find_elements("css selector", "input[name=show]")
    assert len(boxes) > 8
    for box in boxes:
        box.click()
        expected = flagged(broken, box.get_attribute("value"))
        assert 0 < len(expected) < 30
        assert shown(driver) == expected
        assert driver.find_element("id", "count").text == f"{len(expected)} of 30 shown"
        assert driver.execute_script("return document.querySelectorAll('a.off').length") == 30 - len(expected)
        assert driver.execute_script("return document.querySelectorAll('td.off').length") == 4 * (30 - len(expected))
        box.click()


def test_the_address_holds_filter_and_question_through_links_reload_and_history(driver: Any, broken: Outputs) -> None:
    browser.look(driver, render.report(broken))
    cut, opened = flagged(broken, "cut"), "return document.querySelector('#q8').open"
    click(driver, ".counts a[data-show=cut]")
    assert (driver.current_url.partition("#")[2], shown(driver)) == ("questions&show=cut", cut)
    click(driver, "a[data-q='8']")
    assert driver.current_url.endswith("#q8&show=cut")
    assert driver.execute_script(opened) and shown(driver) != cut  # it is shown although the filter hides it
    driver.refresh()
    assert driver.execute_script(opened)
    assert driver.find_element("css selector", "input[value=cut]").is_selected()
    driver.back()
    assert (driver.current_url.partition("#")[2], shown(driver)) == ("questions&show=cut", cut)
    driver.back()
    assert len(shown(driver)) == 30
    driver.forward()
    assert shown(driver) == cut
    driver.find_element("id", "find").send_keys("ref-058")
    assert driver.current_url.endswith("#questions&show=cut&find=ref-058")


def test_keys_lead_from_fault_to_fault_and_take_nothing_from_typing(driver: Any, broken: Outputs) -> None:
    browser.look(driver, render.report(broken))
    questions = content.content(runfile.read(broken.json("agent"), ""), None, None, ENGLISH)["questions"]
    wrong = [f"q{question['id']}" for question in questions if not question["clean"]]
    body, opened = (
        driver.find_element("tag name", "body"),
        "return [...document.querySelectorAll('.q[open]')].map((q) => q.id)",
    )
    for pressed, expected in zip("nnnp", [*wrong[:3], wrong[1]], strict=True):
        body.send_keys(pressed)
        assert driver.current_url.endswith(f"#{expected}")
        assert driver.execute_script(opened) == [expected]  # the one that a key opened is closed again
    pressed = "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'n', ctrlKey: true, bubbles: true}))"
    driver.execute_script(pressed)  # the browser's own
    assert driver.current_url.endswith(f"#{wrong[1]}")
    find = driver.find_element("id", "find")
    find.send_keys("unknown")
    assert find.get_attribute("value") == "unknown"
    click(driver, "#keys")
    body.send_keys("n")
    assert driver.current_url.endswith("#questions&find=unknown")
    click(driver, "button[type=reset]")
    driver.execute_async_script("setTimeout(arguments[0], 50)")
    click(driver, "#previous")
    assert driver.find_element("id", "count").text == "no further fault in this direction"


def test_without_the_script_a_link_opens_its_question_and_the_bar_stays_in_sight(driver: Any, broken: Outputs) -> None:
    page = render.report(broken)
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.look(driver, page)
        click(driver, "a[data-q='8']")
        seen = "return [7, 8].map((n) => document.querySelector(`#q${n} .stages`).checkVisibility())"
        assert driver.execute_script(seen) == [False, True]
        bar, question = driver.execute_script(
            "return ['nav', '#q8'].map((name) => document.querySelector(name).getBoundingClientRect())"
        )
        assert bar["top"] == 0
        assert question["top"] >= bar["bottom"]
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_two_filters_leave_what_either_names_and_show_all_brings_back_the_rest(driver: Any, broken: Outputs) -> None:
    browser.look(driver, render.report(broken))
    for flag in ("unsupported_number", "refused"):
        click(driver, f"input[value={flag}]")
    assert shown(driver) == flagged(broken, "unsupported_number", "refused")
    click(driver, "button[type=reset]")
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
    click(driver, "input[value=refused]")
    click(driver, cell)
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
        if driver.switch_to.active_element.get_attribute("value") == "no_marker":
            break
        driver.switch_to.active_element.send_keys(Keys.TAB)
    driver.switch_to.active_element.send_keys(Keys.SPACE)
    assert shown(driver) == flagged(broken, "no_marker")


@pytest.mark.slow
def test_a_thousand_questions_are_filtered_and_unfolded(driver: Any, thousand: Outputs) -> None:
    browser.look(driver, render.report(thousand))
    click(driver, "input[value=slow]")
    assert shown(driver) == flagged(thousand, "slow")
    click(driver, "button[type=reset]")
    click(driver, "#unfold")
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
    assert driver.execute_script(STAGE_NAMES) == [*content.STAGES, content.DELIVERED] * (30 // columns)
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
