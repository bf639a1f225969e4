"""The count of skipped tests, from a made-up log of ctest."""
import importlib.machinery
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOOL = Path(__file__).resolve().parents[2] / "tools/ci/skipped"
LOADER = importlib.machinery.SourceFileLoader("skipped", str(TOOL))
skipped = importlib.util.module_from_spec(importlib.util.spec_from_loader("skipped", LOADER))
LOADER.exec_module(skipped)

LOG = """1/3 Testing: sass
[ RUN      ] Nvdisasm.Agrees
../tests/sass/a_test.cpp:101: Skipped
no nvdisasm in PATH,
and NVDISASM names none
[  SKIPPED ] Nvdisasm.Agrees (1 ms)
[ RUN      ] Sass.Reads
it prints a line
[       OK ] Sass.Reads (3 ms)
[ RUN      ] Lattice.Is/16
it prints a line
../tests/ladder/b_test.cpp:19: Skipped
as the PTX it is from
[  SKIPPED ] Lattice.Is/16 (0 ms)
[ RUN      ] Lattice.Was/16
../tests/ladder/b_test.cpp:19: Skipped
as the PTX it is from
[  SKIPPED ] Lattice.Was/16 (0 ms)
[ RUN      ] Lattice.Fails/17
[  FAILED  ] Lattice.Fails/17 (0 ms)
[  SKIPPED ] 3 tests, listed below:
[  SKIPPED ] Nvdisasm.Agrees
2/3 Testing: cpu_time
OK (skipped=1)
3/3 Testing: embedded_pack
OK
"""


class Skipped(unittest.TestCase):
    def test_each_reason_has_its_tests(self):
        self.assertEqual(skipped.skipped(LOG), {
            "no nvdisasm in PATH, and NVDISASM names none": ["Nvdisasm.Agrees"],
            "as the PTX it is from": ["Lattice.Is/16", "Lattice.Was/16"],
            "unittest": ["cpu_time"]})

    def test_the_report_counts_and_names_some(self):
        text = skipped.report({"no GPU": ["a", "b", "c", "d", "e"], "no nvcc": ["f"]})
        self.assertTrue(text.startswith("6 tests were skipped:\n     5  no GPU (a, b, c, 2 more)"), text)
        self.assertEqual(skipped.report({"x": ["a"]}).splitlines()[0], "1 test was skipped:")
        self.assertEqual(skipped.report({}), "No test was skipped.")

    def test_reads_the_log_of_a_build(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(subprocess.run([TOOL, folder], capture_output=True).returncode, 2)
            logs = Path(folder) / "Testing/Temporary"
            logs.mkdir(parents=True)
            (logs / "LastTest.log").write_text(LOG)
            run = subprocess.run([TOOL, folder], capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout.splitlines()[0]), (0, "4 tests were skipped:"))


if __name__ == "__main__":
    unittest.main()
