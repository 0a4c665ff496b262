"""What the tutorial says of the project is so: names, strings, figures, commands, outputs, in each language.

Every fragment is taken out of its texts when this runs. Run: R3_SEEDS=FOLDER python -m pytest tests/tutorial
"""

import json
import re
import unittest
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from src import agent, cli, evaluate, tools
from src.measures.published import PUBLISHED
from src.runs import catalog
from tests.support.command import ROOT
from tests.tutorial.conftest import Text

LOCK = json.loads((ROOT / "configs" / "models.lock.json").read_text(encoding="utf-8"))
PAGE = {"en": "CONTAINERS.md", "es": "CONTAINERS.es.md", "vi": "CONTAINERS.vi.md"}


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `prepare` made."""
    folder = tmp_path_factory.mktemp("outputs")
    assert cli.main(["prepare", "--outputs", str(folder)]) == 0
    return folder


def holding(text: Text, part: str) -> list[str]:
    """The lines that hold a part."""
    found = [line for line in text.lines if part in line]
    assert found, part
    return found


def test_the_example_proposal_conforms_and_gives_the_expected_observation(text: Text, prepared: Path) -> None:
    proposal, observation = map(json.loads, text.objects())
    jsonschema.validate(proposal, agent.SCHEMA)
    db = tools.readonly(prepared / "stock.db")
    assert tools.toolcall(db, proposal) == observation
    missing = json.loads(re.findall(r"\{ \"found\": false \}", text.whole)[0])
    assert tools.toolcall(db, {**proposal, "arguments": {"ref": "REF-999"}}) == missing
    db.close()


def test_the_references_that_the_text_calls_malformed_are_refused(text: Text, prepared: Path) -> None:
    (line,) = [line for line in text.lines if "REF-12" in line]
    good, *bad = re.findall(r"(?i)\bref-[0-9]+\b", line)
    assert (good, bad) == ("REF-000", ["REF-12", "ref-000"])
    db = tools.readonly(prepared / "stock.db")
    for ref in bad:
        with pytest.raises(ValueError, match="Référence ou arguments invalides"):
            tools.toolcall(db, {"outil": "consulter_stock", "arguments": {"ref": ref}})
    db.close()


def test_products_questions_and_question_0_are_those_of_the_text(text: Text) -> None:
    line = holding(text, "data/products.json")[0]
    products, queries = map(int, re.findall(r"\b\d\d\b", line)[:2])
    data: Any = catalog.shop()
    assert (len(data["products"]), len(data["queries"])) == (products, queries) == (60, 30)
    assert [query["ref"] for query in data["queries"]].count("REF-999") == 3
    field = "query" if text.language == "en" else text.language
    assert data["queries"][0]["id"] == 0
    assert f"“{data['queries'][0][field]}”" in line or f"«{data['queries'][0][field]}»" in line


def test_every_command_of_the_text_is_on_our_page_in_its_order(text: Text) -> None:
    told = list(dict.fromkeys(text.commands()))  # `negatives` is run a second time, in the exercise
    page = (ROOT / "docs" / PAGE[text.language]).read_text(encoding="utf-8")
    block = page.split("<!-- commands: gpu -->\n```sh\n")[1].split("```")[0]
    ours = [re.sub(r" --lang \w+", "", line.partition(" #")[0].strip()) for line in block.splitlines()]
    assert ours == told and len(told) == 12


def test_every_path_that_the_text_names_is_there(text: Text) -> None:
    named = set(re.findall(r"\b(?:src|scripts|configs|docs|data)/[\w/.]+\.\w+|\bcompose\.yaml\b", text.whole))
    assert len(named) >= 7
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    assert {"agent.py", "tools.py"} <= set(re.findall(r"\b\w+\.py\b", text.whole))


def test_every_function_that_the_text_names_is_where_it_says(text: Text) -> None:
    named = set(re.findall(r"\b(create|readonly|digest|toolcall|generate|run|evaluate)\(\)", text.whole))
    homes: dict[str, Any] = {"generate": agent, "run": agent, "evaluate": evaluate}
    assert named == {"create", "readonly", "digest", "toolcall", "generate", "run", "evaluate"}
    assert all(callable(getattr(homes.get(name, tools), name)) for name in named)


def test_the_sql_the_pattern_and_the_settings_are_those_of_the_text(text: Text) -> None:
    assert tools.READ in text.whole
    assert tools.REFERENCE.pattern in text.whole and agent.WORD in text.whole and agent.CHOOSE in text.whole
    settings = re.findall(r"(temperature|seed|max_tokens)=(\d+)", holding(text, "temperature=0")[0])
    assert {name: int(value) for name, value in settings} == {
        name: agent.GENERATION[name] for name in ("temperature", "seed", "max_tokens")
    }


def test_the_model_is_pinned_as_the_text_says(text: Text) -> None:
    assert re.findall(r"\b[0-9a-f]{40}\b", text.whole) == [LOCK["r3"]["revision"]]
    assert holding(text, "Qwen2.5-7B-Instruct-GGUF") and LOCK["r3"]["repository"].endswith("Qwen2.5-7B-Instruct-GGUF")
    assert len(LOCK["r3"]["files"]) == 2 and LOCK["r3"]["quantisation"] in text.whole


def test_the_needs_are_those_that_preflight_checks_and_our_page_names(text: Text) -> None:
    line = holding(text, "RTX 3090")[0]
    needs = list(map(int, re.findall(r"\b(\d+) GiB", line)))
    script = (ROOT / "scripts" / "preflight.sh").read_text(encoding="utf-8")
    checked = dict(re.findall(r"^(RAM|DISK|VRAM)_GIB=(\d+)$", script, re.MULTILINE))
    assert needs == [int(checked[name]) for name in ("RAM", "DISK", "VRAM")] == [12, 15, 10]
    readme = {"en": "README.md", "es": "docs/README.es.md", "vi": "docs/README.vi.md"}[text.language]
    for page in (f"docs/{PAGE[text.language]}", readme):  # the text sends its reader to the README
        assert all(f"{need} GiB" in (ROOT / page).read_text(encoding="utf-8") for need in needs), page


def test_the_published_table_is_the_one_that_evaluate_prints_beside_ours(text: Text) -> None:
    rows = [cells for _, *cells in text.rows() if re.match(r"\d", cells[0])]
    values = [[float(cell.replace(",", ".").removesuffix(" ms")) for cell in cells] for cells in rows]
    published: Any = PUBLISHED
    for place, run in enumerate(published["runs"]):
        keys = ("queries", "observation_correct", "errors", "answer_marker_present", "mean_ms")
        assert [row[place] for row in values] == [run[key] for key in keys]
    assert PUBLISHED["machine"] in text.whole


def test_the_measures_have_the_names_of_the_text_and_its_fictional_answer_counts(text: Text) -> None:
    products = catalog.shop()["products"]
    (said,) = re.findall(r"[“«]([^”»]*: 0,[^”»]*)[”»]", text.whole)
    result: Any = {
        "id": 0, "ref": "REF-000", "query": "?", "error": None, "seconds": 0.1,
        "trace": [{"call": {}, "observation": products[0]}], "answer": {"raw": said, "finish_reason": "stop"},
    }  # fmt: skip
    measures = evaluate.evaluate([result], products)
    for name in ("observation_correct", "answer_marker_present", "errors", "mean_ms"):
        assert name in measures and name in [first for first, *_ in text.rows()], name
    assert measures["answer_marker_present"] == 1.0, "the marker is there, though the sentence is not true"
    assert holding(text, "introuvable")


def test_negatives_attempts_and_refuses_what_the_text_counts(text: Text, prepared: Path) -> None:
    assert cli.main(["negatives", "--outputs", str(prepared)]) == 0
    found = json.loads((prepared / "negatives.json").read_text(encoding="utf-8"))
    counts = [check["kind"] for check in found["checks"] if check["refused"]]
    five = {"en": "five malformed calls", "es": "cinco llamadas mal formadas", "vi": "năm lời gọi sai cấu trúc"}
    assert holding(text, five[text.language]) and counts.count("malformed call") == 5
    assert counts.count("call budget") == counts.count("SQLite write") == 1 and found["unchanged"]
    assert any(call["outil"] == "delete" for call in cli.cases)


def test_the_public_tests_are_as_many_as_the_text_says(text: Text) -> None:
    (told,) = {int(number) for number in re.findall(r": (\d+) (?:successful|pruebas|bài kiểm)", text.whole)}
    suite = unittest.defaultTestLoader.discover(str(ROOT / "tests"))
    assert suite.countTestCases() == told == 14


def test_the_exercise_asks_in_the_words_of_the_text(text: Text, prepared: Path) -> None:
    assert cli.main(["exercise", "--lang", text.language, "--outputs", str(prepared)]) == 0
    steps = json.loads((prepared / "exercise.json").read_text(encoding="utf-8"))["steps"]
    asked = [line.removeprefix(f"{number}. ") for number in (1, 2, 3) for line in text.lines if "?" in line]
    for step in steps:
        assert step["question"] in asked, step["question"]
    assert [step["observation"] for step in steps] == [json.loads(text.objects()[1]), {"found": False}, None]
    page = (ROOT / "docs" / PAGE[text.language].replace("CONTAINERS", "EXERCISE")).read_text(encoding="utf-8")
    shown = " ".join(page.split())  # a long question takes two lines of the terminal
    assert all(step["question"] in shown for step in steps)
