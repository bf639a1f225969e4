#!/usr/bin/env python3
"""The examples in Python, each in a process of its own. examples_test.py LIBRARY"""
import os
import pathlib
import subprocess
import sys
import unittest

LIBRARY = sys.argv.pop(1) if len(sys.argv) > 1 else "build/libtessera.so.0"


def installed(module):
    return subprocess.run([sys.executable, "-c", f"import {module}"],
                          capture_output=True).returncode == 0


class Examples(unittest.TestCase):
    def run_all(self, uses_torch):
        place = dict(os.environ, PYTHONPATH="python",
                     TESSERA_LIBRARY=str(pathlib.Path(LIBRARY).resolve()))
        for path in sorted(pathlib.Path("examples").glob("*.py")):
            if ("import torch" in path.read_text()) != uses_torch:
                continue
            with self.subTest(path=path.name):
                said = subprocess.run([sys.executable, str(path)], env=place, capture_output=True,
                                      text=True)
                self.assertTrue(said.returncode == 0 or said.stderr.startswith("skipped:"),
                                said.stdout + said.stderr)

    @unittest.skipUnless(installed("numpy"), "NumPy is not installed")
    def test_with_numpy(self):
        self.run_all(False)

    @unittest.skipUnless(installed("torch") and installed("numpy"), "PyTorch is not installed")
    def test_with_torch(self):
        self.run_all(True)


if __name__ == "__main__":
    unittest.main()
