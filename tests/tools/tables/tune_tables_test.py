"""The table of what tessera tune gained, from made-up runs."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/tables"), str(ROOT / "tools/tune")]
from before_and_after import joined  # noqa: E402
from clients import tune_tables  # noqa: E402

CALL = "type=f16 order=row layout=NT m=3 n=4 k=5 steps=2,2,2,2 batch=7 beta=1 align=16,16,16,16 workspace=any"
TUNE = {"gpu": "a card", "driver": "1.2", "library": "abc", "calls": [
    {"call": CALL, "reason": "", "taken": "b/2:whole",
     "plans": [{"plan": "a/1:whole", "time_ms": {"median": 0.002}}, {"plan": "b/2:whole", "time_ms": {"median": 0.001}}]},
    {"call": CALL.replace(" batch=7", "").replace("beta=1", "beta=0"), "reason": "", "taken": "a/1:whole",
     "plans": [{"plan": "a/1:whole", "time_ms": {"median": 0.003}}]}]}


class Tables(unittest.TestCase):
    def test_before_and_after(self):
        before = [[("first", 2.0), ("second", 3.0)], [("first", 2.2), ("second", 3.0)]]
        after = [[("first", 1.0), ("second", 3.0)], [("first", 1.1), ("second", 3.0)]]
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            self.assertEqual(tune_tables.sections(root)["tune"], "not measured yet")
            (root / "results/tune").mkdir(parents=True)
            (root / "results/tune/h100_own_calls.json").write_text(json.dumps(joined(TUNE, before, after)))
            text = tune_tables.sections(root)["tune"]
        self.assertIn("| first | F16 NT row, 7 x 3 x 4 x 5, beta 1 | `a/1` | `b/2` | 2.1 | 1.1 | **2.000** |", text)
        self.assertIn("| second | F16 NT row, 3 x 4 x 5 | `a/1` | the same | 3.0 | 3.0 | 1.000 |", text)
        self.assertIn("1 of 2. Geometric mean of all: 1.414, lowest 1.000.", text)


if __name__ == "__main__":
    unittest.main()
