"""tools/tune/two_builds.py, with programs that print made-up times."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TOOL = ROOT / "tools/tune/two_builds.py"

# A program of commit NAME, whose products of 64 in layout SLOW take twice as long as all others.
PROGRAM = """#!/usr/bin/env python3
import json, sys
given = dict(zip(sys.argv[2::2], sys.argv[3::2]))
assert sys.argv[1] == "bench" and given["--json"] == "-", sys.argv
def run(size, layout, verified="full", limit=None):
    ms = {"median": 2e-3 if (size, layout) == (64, "SLOW") else 1e-3}
    return {"problem": {"m": size, "layout": layout}, "kernel": given["--type"], "config": "NAME", "time_ms": ms,
            "vendor": {"time_ms": {"median": 3e-3}}, "verified": verified, "workspace_limit": limit}
runs = [run(int(size), layout) for size in given["-m"].split(",") for layout in ("NN", "TN")]
runs += [run(32, "NT", "failed"), run(32, "TT", limit=64)]
runs += [run(32, "TT")] if "NAME" == "old" else []
runs[0]["vendor"] = None
print(json.dumps({"environment": {"commit": "NAME", "device": {"name": "a card"}, "libraries": {"vendor": "v"}},
                  "runs": runs}))
sys.exit(1)  # a result was wrong
"""


class TwoBuilds(unittest.TestCase):
    def run_tool(self, folder, slow_in_new, *more):
        for name, slow in (("old", "none"), ("new", slow_in_new)):
            program = folder / name
            program.write_text(PROGRAM.replace("NAME", name).replace("SLOW", slow))
            program.chmod(0o755)
        out = folder / "out.json"
        run = subprocess.run([sys.executable, TOOL, folder / "old", folder / "new", "--out", out, "--types", "f32,f64",
                              "--sizes", "32,64", *more], capture_output=True, text=True, check=True)
        return run.stdout, json.loads(out.read_text())

    def test_every_product_of_both_programs_is_stored_by_round(self):
        with tempfile.TemporaryDirectory() as folder:
            _, stored = self.run_tool(Path(folder), "none", "--rounds", "3")
            self.assertEqual((stored["old_commit"], stored["new_commit"], stored["gpu"]), ("old", "new", "a card"))
            keys = [(cell["type"], cell["size"], cell["layout"]) for cell in stored["cells"]]
            self.assertEqual(keys, [(t, s, l) for t in ("f32", "f64") for s in (32, 64)
                                    for l in (("NN", "TN", "TT") if s == 32 else ("NN", "TN"))])
            for cell in stored["cells"]:
                if cell["layout"] == "TT":
                    self.assertEqual((cell["old_ms"], cell["new_ms"], cell["new"]), ([1e-3] * 3, [None] * 3, None))
                    continue
                self.assertEqual((cell["old_ms"], cell["new_ms"]), ([1e-3] * 3, [1e-3] * 3))
                vendor = None if (cell["size"], cell["layout"]) == (32, "NN") else 3e-3
                self.assertEqual(cell["vendor_ms"], [[vendor, vendor]] * 3)
                self.assertEqual((cell["old"], cell["new"]), (cell["type"] + "/old", cell["type"] + "/new"))

    def test_slower_products_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            printed, _ = self.run_tool(Path(folder), "TN")
            self.assertIn("f32: 0.8409, 0.8409 (4 products)", printed)  # one of four at half speed
            self.assertIn("all: 0.8409", printed)
            self.assertIn("below 0.98: f64 64 TN 0.500, 0.500 (f64/old -> f64/new)", printed)
            self.assertEqual(printed.count("below"), 2)  # one for each type
            self.assertIn("not timed or not verified by both programs in every round: f32 32 TT", printed)

    def test_no_rounds_are_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(subprocess.CalledProcessError) as failed:
                self.run_tool(Path(folder), "none", "--rounds", "0")
            self.assertIn("--rounds is 0, but must be at least 1", failed.exception.stderr)


if __name__ == "__main__":
    unittest.main()
