#!/usr/bin/env python3
"""Counts lines of code, without comments and blank lines, by folder, in two commits.

    tests/house/count_lines.py BEFORE AFTER > results/house/lines.json
"""
import json
import pathlib
import re
import subprocess
import sys

ROOMS = ("src/gemm", "src/kernels")
ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = re.compile(r"\.(h|cpp|cu|inc)$")


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True, text=True).stdout


def lines_of(text):
    """Lines with code: "int x;  // WHY" is one, and "// WHY" is none."""
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return sum(1 for line in bare.splitlines() if line.strip() and not line.strip().startswith("//"))


def folder_of(path):
    """The folder inside of a room: "src/gemm/cost" for "src/gemm/cost/tuning/h100.inc"."""
    parts = path.split("/")
    return "/".join(parts[:3] if len(parts) > 3 else parts[:2])


def lines_by_folder(commit):
    count = {}
    for path in git("ls-tree", "-r", "--name-only", commit, *ROOMS).split():
        if CODE.search(path):
            folder = folder_of(path)
            count[folder] = count.get(folder, 0) + lines_of(git("show", f"{commit}:{path}"))
    return count


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(json.dumps({"schema": "tessera.lines/1",
                      "commits": [{"commit": git("rev-parse", "--short=12", commit).strip(),
                                   "date": git("show", "-s", "--format=%cs", commit).strip(),
                                   "lines": lines_by_folder(commit)} for commit in sys.argv[1:]]}, indent=1))


if __name__ == "__main__":
    main()
