"""The flow of one question, `run()`, with queued texts in place of a model: no server, no third-party package.

Run alone: python -m unittest tests.test_flow -v
"""

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from src import agent
from src.base.records import Generation, JsonObject, Outcome, Product, Question
from src.tools import create, digest, readonly

QUERY: Question = {"id": 7, "ref": "REF-000", "query": "What is the stock level for REF-000?"}
RECORD: Product = {"ref": "REF-000", "name": "Produit 0", "stock": 0}
GOOD = '{"outil": "consulter_stock", "arguments": {"ref": "REF-000"}}'
REFUSED = (
    (GOOD, "length", "Proposition tronquée"),
    (GOOD, None, "Proposition tronquée"),
    (GOOD.replace("consulter_stock", "delete"), "stop", "Outil interdit ou appel mal formé"),
    (GOOD.replace("REF-000", "REF-12"), "stop", "Référence ou arguments invalides"),
    (GOOD.replace('"ref"', '"ref": "REF-001", "ref"'), "stop", "not JSON: an object repeats a key"),
    (GOOD + " Voilà !", "stop", "not JSON: Extra data"),
    ("```json\n" + GOOD + "\n```", "stop", "not JSON: Expecting value"),
    ("[" * 100_000, "stop", "not JSON"),
    ('{"outil": ' + "9" * 5000 + "}", "stop", "not JSON"),
    ("The stock of REF-000 is fine.", "stop", "not JSON"),
    ("", "stop", "empty answer"),
)


class Run(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "stock.db"
        create(self.path, [RECORD])
        self.db = readonly(self.path)
        self.addCleanup(self.db.close)
        self.addCleanup(setattr, agent, "generate", agent.generate)

    def answer(self, *texts: tuple[str, str | None]) -> tuple[Outcome, list[Any]]:
        """Run one question against these (text, finish_reason) pairs; returns the result and what was asked."""
        queue = list(texts)
        asked: list[Any] = []

        def generate(prompt: str, schema: JsonObject | None = None, *, system: str) -> Generation:
            asked.append((prompt, schema, system))
            raw, finish_reason = queue.pop(0)
            return {"raw": raw, "finish_reason": finish_reason, "seconds": 0.0}

        agent.generate = generate
        return agent.run(self.db, QUERY), asked

    def test_two_generations_around_one_read(self) -> None:
        result, asked = self.answer((GOOD, "stop"), ("Stock: 0", "stop"))
        self.assertEqual(list(result), [*QUERY, "proposal", "trace", "answer", "error", "seconds"])
        self.assertEqual(result["trace"], [{"call": json.loads(GOOD), "observation": RECORD}])
        self.assertEqual((result["answer"] and result["answer"]["raw"], result["error"]), ("Stock: 0", None))
        observation = QUERY["query"] + "\nObservation outil: " + json.dumps(RECORD)
        self.assertEqual(asked, [(QUERY["query"], agent.SCHEMA, agent.CHOOSE), (observation, None, agent.WORD)])

    def test_a_refused_proposal_never_starts_the_second_generation(self) -> None:
        before = digest(self.path)
        for raw, finish_reason, message in REFUSED:
            with self.subTest(raw=raw[:60], finish_reason=finish_reason):
                result, asked = self.answer((raw, finish_reason))
                self.assertEqual(len(asked), 1)
                self.assertEqual((result["answer"], result["trace"]), (None, []))
                self.assertIn(message, result["error"] or "")
                self.assertEqual(result["proposal"] and result["proposal"]["raw"], raw)
        self.assertEqual(digest(self.path), before)


if __name__ == "__main__":
    unittest.main()
