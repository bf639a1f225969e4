"""The table of chains: what a cell says, and which files are refused."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools" / "tables"))
import chain_tables  # noqa: E402


def chain(config="8x8", size=1024, own=20.0, vendor=5.0, correct=True):
    summary = {"p5": 0, "p95": 0, "n": 3}
    return {"kernel": "21_packed_blocks", "config": config, "problem": {"m": size}, "length": 10,
            "correct": correct, "checked": "full" if size < 2048 else "sampled",
            "own_ms": {"median": own, **summary},
            "vendor_ms": {"median": vendor, **summary} if vendor else None}


def file_of(chains):
    return {"schema": "tessera.chain/1", "chains": chains,
            "environment": {"device": {"name": "NVIDIA H200", "driver": "1"}, "date": "2026-11-23T00:00:00Z",
                            "libraries": {"vendor": "cuBLAS 13"}, "commit": "1a2b3c4d5e6f"}}


class ChainTables(unittest.TestCase):
    def test_cells(self):
        self.assertEqual(chain_tables.cell(chain()), "20.0 · 5.00 (0.25)")
        self.assertEqual(chain_tables.cell(chain(own=2000.0, vendor=30.0)), "2,000 · 30.0 (0.015)")
        self.assertEqual(chain_tables.cell(chain(vendor=None)), "20.0")
        self.assertEqual(chain_tables.cell(chain(correct=False)), "wrong")

    def test_a_row_for_each_config(self):
        text = chain_tables.body(file_of([chain(), chain(size=4096), chain(config="4x4")]), "h100")
        self.assertIn("| kernel | 1024 | 4096 |", text)
        self.assertIn("| 21 packed blocks | 20.0 · 5.00 (0.25) | 20.0 · 5.00 (0.25) |", text)
        self.assertIn("| 21 packed blocks, 4x4 | 20.0 · 5.00 (0.25) | - |", text)
        self.assertIn("from 4096 on a sample", text)
        self.assertIn("commit 1a2b3c4d5e6f", text)

    def test_plain_records_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.json"
            path.write_text(json.dumps({"schema": "tessera.results/1", "runs": []}))
            with self.assertRaises(SystemExit):
                chain_tables.load(path)

    def test_files_of_two_commits_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / "a.json", Path(folder) / "b.json"]
            for path, size in zip(paths, (8192, 1024)):
                path.write_text(json.dumps(file_of([chain(size=size)])))
            self.assertEqual(len(chain_tables.merged(paths)["chains"]), 2)
            other = file_of([chain()])
            other["environment"]["commit"] = "2b3c4d5e6f7a"
            paths[1].write_text(json.dumps(other))
            with self.assertRaises(SystemExit):
                chain_tables.merged(paths)

    def test_without_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(chain_tables.sections(Path(folder)), {"chain": "not measured yet"})

    def test_each_card_has_a_table(self):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "results/ladder"
            place.mkdir(parents=True)
            for card in ("h100", "h200"):
                (place / f"{card}_chain.json").write_text(json.dumps(file_of([chain()])))
            text = chain_tables.sections(Path(folder))["chain"]
            self.assertEqual(text.count("| kernel |"), 2)
            self.assertLess(text.index("h100_chain"), text.index("h200_chain"))


if __name__ == "__main__":
    unittest.main()
