"""The database file: made once and never overwritten, opened so that SQLite itself refuses to write.

Run alone: python -m unittest tests.test_database -v
"""

import hashlib
import sqlite3
import tempfile
import unittest
from pathlib import Path

from src.tools import create, digest, readonly

PRODUCTS = [{"ref": "REF-000", "name": "Produit 0", "stock": 0}]
NAMES = ("plain.db", "two words.db", "a?mode=rwc&x.db", "a#b.db", "a%41.db", "100%zz.db", "réf-дб-库.db", "'quoted'.db")


class Database(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())

    def test_create_never_touches_what_has_the_name(self) -> None:
        path = self.folder / "stock.db"
        for content in (b"", b"somebody's work"):
            with self.subTest(content=content):
                path.write_bytes(content)
                with self.assertRaises(FileExistsError):
                    create(path, PRODUCTS)
                self.assertEqual(path.read_bytes(), content)
                self.assertEqual(self.names(), ["stock.db"])
        path.unlink()
        path.symlink_to(self.folder / "nowhere")
        with self.assertRaises(FileExistsError):
            create(path, PRODUCTS)
        self.assertEqual(self.names(), ["stock.db"])

    def test_a_failed_create_leaves_nothing_behind(self) -> None:
        missing = {"ref": "REF-001", "name": "Produit 1"}
        for bad in (PRODUCTS * 2, [missing], [{**missing, "stock": None}], [{**missing, "stock": 2**64}]):
            with self.subTest(bad=bad), self.assertRaises((sqlite3.Error, OverflowError)):
                create(self.folder / "stock.db", bad)
            self.assertEqual(self.names(), [])

    def test_readonly_opens_the_right_file_whatever_its_name(self) -> None:
        for stock, name in enumerate(NAMES):
            create(self.folder / name, [{"ref": "REF-000", "name": name, "stock": stock}])
        before = self.names()
        for stock, name in enumerate(NAMES):
            with self.subTest(name=name):
                db = readonly(self.folder / name)
                self.addCleanup(db.close)
                self.assertEqual(db.execute("SELECT name, stock FROM products").fetchall(), [(name, stock)])
                with self.assertRaisesRegex(sqlite3.OperationalError, "readonly"):
                    db.execute("UPDATE products SET stock = 5")
        self.assertEqual((self.names(), before), (before, sorted(NAMES)))

    def test_readonly_never_creates_a_file(self) -> None:
        for name in (*NAMES, "no/such/folder.db"):
            with self.subTest(name=name), self.assertRaises(sqlite3.OperationalError):
                readonly(self.folder / name).execute("SELECT 1 FROM products")
        self.assertEqual(self.names(), [])


class Digest(unittest.TestCase):
    def test_digest_is_sha256_of_the_bytes_and_changes_with_one_of_them(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bytes"
            content = bytes(range(256)) * 5000
            path.write_bytes(content)
            self.assertEqual(digest(path), hashlib.sha256(content).hexdigest())
            path.write_bytes(content[:-1] + b"x")
            self.assertNotEqual(digest(path), hashlib.sha256(content).hexdigest())


if __name__ == "__main__":
    unittest.main()
