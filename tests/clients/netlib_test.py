"""netlib's testers of the level 3 BLAS (Debian: libblas-test), their GEMM lines, over Tessera.

netlib_test.py BUILD [PLACE]    PLACE: a GPU's number, or -2 for the CPU (default)
Exit code 77: the testers are not installed."""

import os
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path("/usr/lib/x86_64-linux-gnu/blas")
# Sizes of odd and even tails, and one beyond a block of the CPU's loops and a tile of a GPU's.
INPUT = """'{name}.out'  NAME OF SUMMARY OUTPUT FILE
6  UNIT NUMBER OF SUMMARY FILE
'{name}.snap'  NAME OF SNAPSHOT OUTPUT FILE
-1  UNIT NUMBER OF SNAPSHOT FILE (NOT USED IF .LT. 0)
F  LOGICAL FLAG, T TO REWIND SNAPSHOT FILE AFTER EACH RECORD.
F  LOGICAL FLAG, T TO STOP ON FAILURES.
T  LOGICAL FLAG, T TO TEST ERROR EXITS.
16.0  THRESHOLD VALUE OF TEST RATIO
7  NUMBER OF VALUES OF N
0 1 2 3 5 9 33  VALUES OF N
3  NUMBER OF VALUES OF ALPHA
0.0 1.0 0.7  VALUES OF ALPHA
3  NUMBER OF VALUES OF BETA
0.0 1.0 1.3  VALUES OF BETA
"""
# The tester's names of routines; only the first one is Tessera's.
ROUTINES = ("GEMM", "SYMM", "TRMM", "TRSM", "SYRK", "SYR2K")


def lines_of(letter):
    return "".join(f"{letter + name:6} {'T' if name == 'GEMM' else 'F'} PUT F FOR NO TEST.\n"
                   for name in ROUTINES)


def run(build, letter, place):
    name = f"{letter.lower()}blat3"
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, LD_PRELOAD=str(build / "libblas_gemm.so"), TESSERA_TEST_PLACE=place)
        done = subprocess.run([FOLDER / f"xblat3{letter.lower()}"], cwd=folder, env=environment, text=True,
                              input=INPUT.format(name=name) + lines_of(letter), capture_output=True)
        out = pathlib.Path(folder, f"{name}.out")
        report = out.read_text() if out.exists() else done.stdout
    for passed in (f"{letter}GEMM  PASSED THE TESTS OF ERROR-EXITS",
                   f"{letter}GEMM  PASSED THE COMPUTATIONAL TESTS"):
        if passed not in report or done.returncode != 0:
            print(report, done.stderr, sep="\n")
            sys.exit(f"{letter}GEMM: the tester does not print '{passed}'")
    print(next(line.strip() for line in report.splitlines() if "PASSED THE COMPUTATIONAL" in line))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    place = sys.argv[2] if len(sys.argv) > 2 else "-2"
    if not FOLDER.joinpath("xblat3s").exists():
        print("skipped: no netlib testers here (Debian: libblas-test)")
        sys.exit(77)
    for letter in "SD":
        run(build, letter, place)


if __name__ == "__main__":
    main()
