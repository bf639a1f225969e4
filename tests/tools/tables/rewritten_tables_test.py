"""The table of rewritten machine code: gains over the code as compiled, and what the bits say."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/tables"))
import rewritten_tables  # noqa: E402


def way(name, speedup, same_bits=True, reason=None):
    return {"rewriting": name, "speedup": speedup, "same_bits": same_bits, "reason": reason,
            "main_loop": {"cycles_before": 110, "cycles": 100}}


def run(layout, ways, build="as compiled"):
    return {"kernel": "12_warp_tile", "config": "128x128x8", "build": build, "rewritten": ways,
            "commit": "0123456789ab", "rounds": 3, "tflops": 46.9, "time_ms": {"median": 1},
            "problem": {"m": 4096, "layout": layout}}


def section(runs, later=None):
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results/ladder"
        results.mkdir(parents=True)
        for name, day, file in (("h200_rewritten_b", 22, runs), ("h200_rewritten_a", 23, later)):
            environment = {"device": {"name": "a GPU", "driver": "1"}, "date": f"2026-11-{day}T00:00:00Z"}
            if file:
                (results / f"{name}.json").write_text(json.dumps(
                    {"schema": "tessera.results/1", "environment": environment, "runs": file}))
        return rewritten_tables.sections(Path(folder))["rewritten"]


class Rewritten(unittest.TestCase):
    def test_a_row_says_what_was_gained_and_what_was_expected(self):
        ways = [way("remapped", 1.0312), way("reordered", 0.995), way("both", 1.08)]
        text = section([run("NT", ways), run("NN", ways), run("NN", None, build="remapped")])
        self.assertIn("| 12 | NN | 46.9 | +3.1 % (+10.0 %) | -0.5 % (+10.0 %) | +8.0 % (+10.0 %) |", text)
        self.assertLess(text.index("| NN |"), text.index("| NT |"))
        self.assertIn("In 6 of 6 timed runs", text)
        self.assertIn("commit 0123456789ab, 3 rounds", text)

    def test_other_bits_and_what_was_not_run_are_said(self):
        text = section([run("NN", [way("remapped", 1.03, same_bits=False),
                                   way("reordered", None, reason="x: by the port model nothing is gained."),
                                   way("both", None, reason="no GPU")])])
        self.assertIn("other bits", text)
        self.assertIn("| nothing found | not run |", text)
        self.assertIn("In 0 of 1 timed runs", text)

    def test_the_order_alone_has_a_table_of_its_own(self):
        runs = [{"kernel": kernel, "config": "c", "build": build, "mode": "burst", "verified": "full", "rounds": 3,
                 "commit": "0123456789ab", "tflops": tflops, "time_ms": {"median": 1},
                 "problem": {"m": 4096, "layout": layout}}
                for layout in rewritten_tables.LAYOUTS
                for kernel, build, tflops in (("12_warp_tile", "this", 46.92), ("12_warp_tile", "other", 49.49),
                                              ("15_producer_warp", "this", 48.28), ("15_producer_warp", "other", 48.26),
                                              ("16_scheduled_sass", "this", 49.32))]
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(rewritten_tables.reordered(Path(folder)), rewritten_tables.NOTHING)
            (Path(folder) / "results").mkdir()
            (Path(folder) / "results/h200_reordered.json").write_text(json.dumps(
                {"schema": "tessera.results/1", "environment": {"date": ""}, "runs": runs}))
            text = rewritten_tables.reordered(Path(folder))
        self.assertIn("| 12 | 46.9 → 49.5 |", text)
        self.assertIn("| 15 → 16 | 48.3 → 49.3 |", text)
        self.assertNotIn("| 16 |", text)

    def test_what_was_measured_again_takes_the_place_of_what_was_before(self):
        failed = dict(way("remapped", None, reason="integers: wrong"), verified="failed")
        text = section([run("NN", [failed]), run("NT", [failed])], later=[run("NN", [way("remapped", 1.02)])])
        self.assertIn("| NN | 46.9 | +2.0 %", text)
        self.assertIn("| NT | 46.9 | **wrong result**", text)
        self.assertEqual(text.count("| NN |"), 1)


if __name__ == "__main__":
    unittest.main()
