"""The table of two builds' speed from made-up times."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/tables"))
from reports import house_tables  # noqa: E402


def cell(kind, layout, old, new):
    return {"type": kind, "size": 64, "layout": layout, "old_ms": old, "new_ms": new}


def section(cells, vendor="a library"):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        if cells:
            (root / "results/tune").mkdir(parents=True)
            file = {"gpu": "a card", "vendor": vendor, "old_commit": "a" * 40, "new_commit": "b" * 40,
                    "cells": cells}
            (root / "results/tune/card_two_builds.json").write_text(json.dumps(file))
        return house_tables.sections(root)["house_speed"]


class Speed(unittest.TestCase):
    def test_without_files(self):
        self.assertEqual(section([]), "not measured yet")
        self.assertEqual(section([cell("f32", "NN", [1.0, None], [1.0, 1.0])]), "not measured yet")

    def test_only_a_product_that_is_slower_in_every_round_is_below(self):
        text = section([cell("f32", "NN", [1.0, 1.0], [1.25, 1.0]), cell("f32", "TN", [0.9, 0.97], [1.0, 1.0]),
                        cell("f64", "NT", [2.0, 2.0], [1.0, 1.0]), cell("f64", "TT", [1.0, None], [1.0, None])])
        self.assertIn("| F32 | 2 | 0.914 | 1 | 0.970, F32 64 TN |", text)  # (0.8 * 1 * 0.9 * 0.97) ** (1 / 4)
        self.assertIn("| F64 | 1 | 2.000 | 0 | 2.000, F64 64 NT |", text)
        self.assertIn("| all | 3 |", text)
        self.assertIn("Speed of commit bbbbbbbb over that of aaaaaaaa", text)
        self.assertIn("1 products were not timed by both", text)
        self.assertIn("a card, a library.", text)

    def test_without_the_vendors_library(self):
        self.assertTrue(section([cell("f32", "NN", [1.0], [1.0])], vendor=None).endswith(" a card."))


if __name__ == "__main__":
    unittest.main()
