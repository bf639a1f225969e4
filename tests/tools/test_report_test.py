"""Skipped and failed tests, from a made-up log of ctest."""
import importlib.machinery
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOOL = Path(__file__).resolve().parents[2] / "tools/ci/test_report"
LOADER = importlib.machinery.SourceFileLoader("test_report", str(TOOL))
test_report = importlib.util.module_from_spec(importlib.util.spec_from_loader("test_report", LOADER))
LOADER.exec_module(test_report)

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
../tests/ladder/b_test.cpp:30: Failure
Expected equality of these values
[  FAILED  ] Lattice.Fails/17, where GetParam() = 12-byte object <01-00> (0 ms)
[ RUN      ] Lattice.Crashes
the last words
[  SKIPPED ] 3 tests, listed below:
[  SKIPPED ] Nvdisasm.Agrees
<end of output>
Test time =   0.25 sec
----------------------------------------------------------
Test Failed.
2/3 Testing: cpu_time
OK (skipped=1)
Test Passed.
3/3 Testing: embedded_pack
no pack
Test Failed.
"""


class Report(unittest.TestCase):
    def test_each_reason_has_its_tests(self):
        self.assertEqual(test_report.skipped(LOG), {
            "no nvdisasm in PATH, and NVDISASM names none": ["Nvdisasm.Agrees"],
            "as the PTX it is from": ["Lattice.Is/16", "Lattice.Was/16"],
            "unittest": ["cpu_time"]})

    def test_the_report_counts_and_names_some(self):
        text = test_report.skip_report({"no GPU": ["a", "b", "c", "d", "e"], "no nvcc": ["f"]})
        self.assertTrue(text.startswith("6 tests were skipped:\n     5  no GPU (a, b, c, 2 more)"), text)
        self.assertEqual(test_report.skip_report({"x": ["a"]}).splitlines()[0], "1 test was skipped:")
        self.assertEqual(test_report.skip_report({}), "No test was skipped.")

    def test_what_failed_is_shown_with_its_words(self):
        found = dict(test_report.failures(LOG))
        self.assertEqual(list(found), ["sass", "embedded_pack"])
        self.assertEqual([name for name, _ in found["sass"]], ["Lattice.Fails/17", "Lattice.Crashes (did not end)"])
        self.assertEqual(found["embedded_pack"], [("", ["no pack"])])
        text = test_report.failure_report(test_report.failures(LOG))
        self.assertIn("FAILED: sass Lattice.Fails/17\n  ../tests/ladder/b_test.cpp:30: Failure\n", text)
        self.assertIn("  the last words", text)
        self.assertNotIn("it prints a line", text)

    def test_a_long_failure_is_shortened(self):
        text = test_report.failure_report([("sass", [("Sass.Reads", [str(i) for i in range(100)])])])
        self.assertIn("  19\n  ... 60 lines ...\n  80\n", text)
        self.assertEqual(len(text.splitlines()), 42)

    def test_the_slowest_are_tests_of_programs_and_whole_scripts(self):
        log = ("1/2 Testing: ladder_0\n[       OK ] Lattice.Is/16, where GetParam() = 16/a (2500 ms)\n"
               "[       OK ] Lattice.Is/17 (70 ms)\nTest time =   9.00 sec\nTest Passed.\n"
               "2/2 Testing: mutate\nOK\nTest time =   0.25 sec\nTest Passed.\n")
        times = test_report.seconds_of_tests(log)
        self.assertEqual(times, [(2.5, "ladder_0 Lattice.Is/16"), (0.07, "ladder_0 Lattice.Is/17"), (0.25, "mutate")])
        text = test_report.slow_report(times * 5)
        self.assertEqual(text.splitlines()[:2], ["The 10 slowest tests:", "      2.5 s  ladder_0 Lattice.Is/16"])
        self.assertEqual(len(text.splitlines()), 11)

    def test_what_a_config_costs_in_all_shards_is_added_up(self):
        log = "config a__b: 3.50 CPU-seconds\nconfig c__d: 6.00 CPU-seconds\nconfig a__b: 4.00 CPU-seconds\n"
        self.assertEqual(test_report.costly_configs(log, 7), [(7.5, "a__b")])
        self.assertEqual(test_report.costly_configs(log, 8), [])
        self.assertGreater(test_report.limit("config_cpu_seconds"), 0)

    def test_a_config_that_costs_too_much_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            logs = Path(folder) / "Testing/Temporary"
            logs.mkdir(parents=True)
            (logs / "LastTest.log").write_text(LOG + "config a__b: 100000.00 CPU-seconds\n")
            run = subprocess.run([TOOL, folder], capture_output=True, text=True)
            self.assertEqual(run.returncode, 1)
            self.assertIn("FAILED: a__b costs test_ladder 100000 CPU-seconds", run.stdout)

    def test_reads_the_log_of_a_build(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(subprocess.run([TOOL, folder], capture_output=True).returncode, 2)
            logs = Path(folder) / "Testing/Temporary"
            logs.mkdir(parents=True)
            (logs / "LastTest.log").write_text(LOG)
            run = subprocess.run([TOOL, folder], capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout.splitlines()[0]), (0, "4 tests were skipped:"))
            self.assertIn("FAILED: embedded_pack\n  no pack", run.stdout)


if __name__ == "__main__":
    unittest.main()
