#!/usr/bin/env python3
"""The lines of README in Python and C, run as they stand.
readme_code_test.py BUILD"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path("build")
AROUND = """#include <stdio.h>
#include "tessera/gemm.h"
static float a[300 * 100], b[100 * 200], d[300 * 200];
int main(void) {
  for (int i = 0; i < 300 * 100; ++i) a[i] = 1;
  for (int i = 0; i < 100 * 200; ++i) b[i] = 2;
%s
  printf("%%g\\n", d[59999]);
  return 0;
}
"""


def code_of(language):
    text = pathlib.Path("README.md").read_text()
    return re.findall(r"```%s\n(.*?)```" % language, text, flags=re.S)


class ReadmeCode(unittest.TestCase):
    def test_c(self):
        blocks = code_of("c")
        self.assertEqual(len(blocks), 1)
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder, "x.c"), pathlib.Path(folder, "x")
            source.write_text(AROUND % blocks[0])
            subprocess.run(["cc", "-Wall", "-Werror", "-Iinclude", str(source), "-o", str(program),
                            f"-L{BUILD}", "-ltessera", f"-Wl,-rpath,{BUILD.resolve()}"], check=True)
            said = subprocess.run([str(program)], check=True, capture_output=True, text=True)
            self.assertEqual(said.stdout, "200\n")

    def test_python(self):
        blocks = code_of("python")
        self.assertEqual(len(blocks), 1)
        try:
            import numpy  # noqa: F401
        except ImportError:
            self.skipTest("NumPy is not installed")
        place = dict(os.environ, PYTHONPATH="python",
                     TESSERA_LIBRARY=str((BUILD / "libtessera.so.0").resolve()))
        said = subprocess.run([sys.executable, "-c", blocks[0]], check=True, env=place,
                              capture_output=True, text=True)
        self.assertRegex(said.stdout, r"^300\.0 ")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BUILD = pathlib.Path(sys.argv.pop(1))
    unittest.main()
