"""The table of the first losses, from made-up cells; its rows are those of the suite."""
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/tables"))
from reports import loss_tables  # noqa: E402


def cell(row, ratio, best=None):
    return {"from": row, "ratio_to_vendor": ratio, **({"without_limit": {"ratio_to_vendor": best}} if best else {})}


def file_of(cells, date="2026-11-26T00:00:00Z", gpu="NVIDIA H100"):
    return {"schema": "tessera.suite/1", "cells": cells,
            "environment": {"device": {"name": gpu}, "date": date, "commit": "1a2b3c4d5e6f",
                            "libraries": {"vendor": "cuBLAS 13"}, "suite": {"name": "losses", "seed": 7}}}


def section(*files):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "results/drawn/losses"
        place.mkdir(parents=True)
        for number, file in enumerate(files):
            (place / f"{number}.json").write_text(json.dumps(file))
        return loss_tables.sections(Path(folder))["drawn_losses"]


class LossTables(unittest.TestCase):
    def test_without_files(self):
        self.assertEqual(section(), "not measured yet")

    def test_ranges_and_means_of_the_newest_file_of_a_gpu(self):
        old = file_of([cell("odd_batch", 9.0)])
        new = file_of([cell("odd_batch", 0.5), cell("odd_batch", 2.0), cell("fp32", 0.5, best=2.0), cell("fp32", None)],
                      "2026-11-27T00:00:00Z")
        text = section(new, old, file_of([cell("fp32", 1.0)], gpu="NVIDIA H200"))
        self.assertIn("| what | before | NVIDIA H100 | any workspace | NVIDIA H200 | any workspace |", text)
        self.assertIn("| FP16 768 x (197 x 64 x 197) | 0.12 | **1.00** (0.50-2.00) | 1.00 | - | - |", text)
        self.assertIn("| FP32 777, 64 x 4096 x 14336 | 0.81, 0.92 | **0.50** (0.50) | 2.00 | **1.00** (1.00) | 1.00 |",
                      text)

    def test_rows_are_those_of_the_suite(self):
        rows = re.findall(r'\{"(\w+)",\s*CellClass', (ROOT / "src/lab/suite/losses.cpp").read_text())
        self.assertEqual(set(rows), set(loss_tables.ROWS))


if __name__ == "__main__":
    unittest.main()
