"""The table of operands in host memory from made-up runs."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/tables"))
from clients import host_tables  # noqa: E402


def row(m, n, k, cpu, plain, ours):
    sides = {"cpu_us": cpu, "plain_us": plain, "tessera_us": ours}
    return {"m": m, "n": n, "k": k, "side": "gpu", **{side: {"median": us} for side, us in sides.items()}}


def section(rows):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        if rows:
            (root / "results/host_operands").mkdir(parents=True)
            file = {"gpu": "a card", "cores": 3, "cpu": "a library", "commit": "abc", "rows": rows}
            (root / "results/host_operands/h100_f64.json").write_text(json.dumps(file))
        return host_tables.sections(root)["host_operands"]


class Tables(unittest.TestCase):
    def test_without_files(self):
        self.assertEqual(section([]), "not measured yet")

    def test_only_more_than_a_tenth_and_five_microseconds_is_bold(self):
        text = section([row(8, 8, 8, 100, 200, 115.0), row(8, 8, 8, 300, 100, 115.1), row(1, 2, 3, 1, 20, 6.2)])
        self.assertIn("| FP64 | 8 | 100.0 | 200.0 | 115.0 | GPU |", text)
        self.assertIn("| FP64 | 8 | 300.0 | 100.0 | **115.1** | GPU |", text)
        self.assertIn("| FP64 | 1 x 2 x 3 | 1.0 | 20.0 | **6.2** | GPU |", text)
        self.assertIn("(2 of 3)", text)


if __name__ == "__main__":
    unittest.main()
