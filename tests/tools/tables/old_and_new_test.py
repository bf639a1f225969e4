"""The table of two builds: pairs that were verified alone, the lowest ratio named."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/tables"))
import fp32_tables  # noqa: E402
import old_and_new  # noqa: E402


def run(size, layout, ratio, build="this", verified="full"):
    return {"kernel": "simt_f32", "config": "x", "mode": "burst", "verified": verified,
            "build": build, "commit": "0123456789ab", "rounds": 3, "ratio_to_other": ratio,
            "problem": {"m": size, "n": size, "k": size, "layout": layout}}


def section(runs):
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results"
        results.mkdir()
        (results / "h200_old_and_new.json").write_text(json.dumps(
            {"schema": "tessera.results/1", "environment": {}, "runs": runs}))
        return old_and_new.sections(Path(folder))["old_and_new"]


class OldAndNew(unittest.TestCase):
    def test_a_size_has_a_row_and_the_lowest_is_named(self):
        text = section([run(512, "NN", 1.01), run(512, "TT", 0.992), run(1024, "NT", 0.9999),
                        run(512, "NN", None, build="other")])
        self.assertIn("| 512 | 1.010 | - | - | 0.992 |", text)
        self.assertIn("| 1024 | - | 1.000 | - | - |", text)
        self.assertIn("the lowest is 0.992", text)
        self.assertIn("commit 0123456789ab, 3 rounds", text)

    def test_what_was_not_verified_does_not_count(self):
        for bad in (run(512, "NN", 1.5, verified="failed"), run(512, "NN", 1.5, verified=None),
                    run(512, "NN", 1.5, build="other")):
            self.assertEqual(section([bad]), fp32_tables.NOTHING)


if __name__ == "__main__":
    unittest.main()
