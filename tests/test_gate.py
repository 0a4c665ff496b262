"""The gate, `toolcall()`: what it reads, and what it refuses before any SQL.

Run alone: python -m unittest tests.test_gate -v
"""

import tempfile
import unittest
from pathlib import Path
from typing import Any

from src.tools import TOOLS, create, digest, readonly, toolcall

PRODUCTS = [
    {"ref": "REF-000", "name": "Produit 0", "stock": 0},
    {"ref": "REF-001", "name": "Produit 1", "stock": 37},
]
BUDGET = "Budget d’appels épuisé ou invalide"
ENVELOPE = "Outil interdit ou appel mal formé"
ARGUMENTS = "Référence ou arguments invalides"


def call(outil: object = "consulter_stock", **arguments: object) -> dict[Any, Any]:
    """A proposal like the tutorial's: `call(ref="REF-000")`."""
    return {"outil": outil, "arguments": arguments}


class Unreachable:
    """A database that must not be asked anything."""

    def execute(self, *_: object) -> None:
        raise AssertionError("a refused call reached SQL")


class EqualToAll(str):
    """A string that claims to equal every other one."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Gate(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "stock.db"
        create(self.path, PRODUCTS)
        self.before = digest(self.path)
        self.db = readonly(self.path)
        self.addCleanup(self.db.close)

    def refused(self, message: str, proposal: object, *count: object) -> None:
        """Assert the refusal, that no SQL ran, and that the file is unchanged."""
        with self.subTest(proposal=repr(proposal)[:80], count=count):
            databases: list[Any] = [Unreachable(), self.db]
            for db in databases:
                with self.assertRaises(ValueError) as refusal:
                    toolcall(db, proposal, *count)
                self.assertEqual(str(refusal.exception), message)
            self.assertEqual(digest(self.path), self.before)

    def test_both_tools_read_the_record_of_a_known_reference(self) -> None:
        for outil in TOOLS:
            with self.subTest(outil=outil):
                self.assertEqual(toolcall(self.db, call(outil, ref="REF-001")), PRODUCTS[1])
        self.assertEqual(TOOLS, ("rechercher_produit", "consulter_stock"))

    def test_unknown_reference_is_not_zero_stock(self) -> None:
        self.assertEqual(toolcall(self.db, call(ref="REF-999")), {"found": False})
        self.assertEqual(toolcall(self.db, call(ref="REF-000")), PRODUCTS[0])

    def test_counter_is_checked_first_and_is_an_exact_integer_from_0_to_2(self) -> None:
        for count in (0, 1, 2):
            self.assertEqual(toolcall(self.db, call(ref="REF-000"), count), PRODUCTS[0])
        number = type("Number", (int,), {})
        wrong: tuple[object, ...] = (3, -1, 10**100, True, False, 1.0, "1", None, [], number(1), float("nan"))
        for other in wrong:
            self.refused(BUDGET, call(ref="REF-000"), other)
        self.refused(BUDGET, call("delete", ref="bad"), 3)
        self.refused(ENVELOPE, call("delete", ref="bad"), 0)

    def test_any_other_tool_is_refused(self) -> None:
        names = ("delete", "modifier_stock", "CONSULTER_STOCK", "consulter_stock ", "consulter_stock\n", "", "\ud800")
        values = (
            None,
            True,
            1,
            1.5,
            ["consulter_stock"],
            {"consulter_stock": 1},
            ("consulter_stock",),
            EqualToAll("x"),
        )
        for outil in (*names, *values):
            self.refused(ENVELOPE, call(outil, ref="REF-000"))

    def test_a_call_is_an_object_with_exactly_two_keys(self) -> None:
        good = call(ref="REF-000")
        for proposal in (None, True, 0, "consulter_stock", [], [good], {}, {**good, "admin": True}, {**good, None: 1}):
            self.refused(ENVELOPE, proposal)
        for key in good:
            self.refused(ENVELOPE, {name: value for name, value in good.items() if name != key})
        self.refused(ENVELOPE, {EqualToAll("outil"): "delete", "arguments": {"ref": "REF-000"}})

    def test_arguments_are_an_object_with_exactly_ref(self) -> None:
        wrong: tuple[object, ...] = (
            None,
            "REF-000",
            ["REF-000"],
            {},
            {"REF": "REF-000"},
            {"ref": "REF-000", "stock": 5},
            {"ref": None},
        )
        more: tuple[object, ...] = ({"ref": ["REF-000"]}, {"ref": {}}, {"ref": 0}, {"ref": b"REF-000"}, {1: "REF-000"})
        for arguments in (*wrong, *more):
            self.refused(ARGUMENTS, {"outil": "consulter_stock", "arguments": arguments})

    def test_a_reference_matches_in_full(self) -> None:
        near = ("REF-12", "REF-0000", "ref-000", "REF-000\n", " REF-000", "REF-000 ", "REF-000\x00", "REF 000", "")
        scripts = ("REF-٠٠١", "REF-００１", "REF-²²²", "REF\u2010000", "\ufeffREF-000", "REF-00\ud800")
        for ref in (*near, *scripts, "REF-000' OR '1'='1", "REF-000; DROP TABLE products", EqualToAll("REF-000")):
            self.refused(ARGUMENTS, call(ref=ref))


if __name__ == "__main__":
    unittest.main()
