#!/usr/bin/env python3
"""The table of the hazard checker adds up its file, and the file keeps to what was to be reached."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/tables"))
sys.path.insert(0, str(ROOT / "tools/sass_hazards"))

import count  # noqa: E402
from sass import hazard_tables  # noqa: E402

STORED = json.loads((ROOT / "results/sass_hazards.json").read_text())


class HazardTables(unittest.TestCase):
    def test_no_objection_to_unchanged_code(self):
        architectures = STORED["architectures"]
        self.assertEqual(len(architectures), 5)
        for name, one in architectures.items():
            self.assertGreaterEqual(one["judged"], 300, name)
            self.assertEqual(one["with_objection"], 0, name)
            self.assertEqual(one["judged"] + sum(one["not_judged"].values()), one["kernels"], name)
            self.assertEqual(sum(kind["edits"] for kind in one["edits"].values()), 1000, name)
            self.assertGreater(one["edits"]["waits"]["noticed"], 0.9 * one["edits"]["waits"]["edits"], name)
        self.assertGreaterEqual(sum(one["judged_with_copies"] for one in architectures.values()), 2000)

    def test_the_text_adds_up(self):
        one = {"compiled": 9, "kernels": 7, "judged": 5, "judged_with_copies": 6, "with_objection": 1,
               "learned_from_no_repository": 4, "learned_from_the_other_half": 2,
               "edits": {"waits": {"edits": 10, "noticed": 9}, "stalls_with_yield": {"edits": 20, "noticed": 18},
                         "other_stalls": {"edits": 4, "noticed": 1}}}
        stored = {"nvcc": "1.2", "repositories": {"a/b": {}}, "architectures": {"sm_75": one, "sm_80": one}}
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "results").mkdir()
            (root / "results/sass_hazards.json").write_text(json.dumps(stored))
            text = hazard_tables.sections(root)["sass_hazards"]
        for part in ("18 kernels", "1 public", "14 of them different", "10 can be judged, which stand for 12 of all",
                     "objects to 2 of them", "objects to 8;", "is not from, to 4,",
                     "56 of 68 edits"):
            self.assertIn(part, text)
        self.assertIn("| sm_80 | 9 | 7 | 5 | 1 | 4 | 2 | 9 of 10 | 18 of 20 | 1 of 4 |", text)

    def test_halves_share_the_kernels(self):
        self.assertEqual(count.halves({"a": 9, "b": 5, "c": 5, "d": 1}), ["a", "d"])
        self.assertEqual(count.halves({"only": 3}), ["only"])

    def test_a_file_that_does_not_compile_is_not_tried_again(self):
        with tempfile.TemporaryDirectory() as folder:
            source, made = pathlib.Path(folder, "a.cu"), pathlib.Path(folder, "a.cu.fatbin")
            source.write_text("")
            self.assertFalse(count.compile_file("false", source, made))
            self.assertTrue(made.with_suffix(".log").exists())
            self.assertFalse(count.compile_file("no such compiler", source, made))


if __name__ == "__main__":
    unittest.main()
