#!/usr/bin/env python3
"""Draws comments of src/ and include/, for a reader who did not write them.

    tests/house/draw_comments.py SEED [PER_ROOM]

SEED is the first eight hex digits of the last commit. Each room (a folder of src/, and include/)
gives PER_ROOM comments (4 unless named: 60 comments from 15 rooms). A comment is a block of
whole-line comments, or one // comment after code, of at least three words. Each is printed with its
place and the ten lines of code that follow. tests/house/drawn_comments.md holds the last draw and
what its reader made of it.
"""
import pathlib
import random
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENDINGS = {".h", ".hpp", ".cpp", ".cu"}
NOT_PROSE = re.compile(r"//\s*(namespace|NOLINT|clang-format|Written by )|//\W*$")
AFTER_CODE = re.compile(r"\s*\S.*?\s(// .+)")


def comments(path):
    """(number of the first line, lines of the comment, lines of code after it)."""
    lines = path.read_text().splitlines()
    found = []
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and lines[end].lstrip().startswith("//"):
            end += 1
        if lines[at].lstrip().startswith("/*"):
            end = next(i for i in range(at, len(lines)) if "*/" in lines[i]) + 1
        after = None if end > at else AFTER_CODE.match(lines[at])
        block = lines[at:end] or ([after[1]] if after else [])
        words = re.findall(r"[A-Za-z]\w*", " ".join(block))
        if len(words) >= 3 and not NOT_PROSE.search(block[0]):
            found.append((at + 1, block, lines[end if end > at else at :][:10]))
        at = max(end, at + 1)
    return found


def rooms():
    """Comments by room: {"base": [(path, line, comment, code), ...], ...}."""
    folders = sorted(folder for folder in (ROOT / "src").iterdir() if folder.is_dir())
    result = {}
    for folder in folders + [ROOT / "include"]:
        files = sorted(f for f in folder.rglob("*") if f.suffix in ENDINGS)
        result[folder.name] = [
            (f.relative_to(ROOT), *comment) for f in files for comment in comments(f)
        ]
    return result


def main():
    draw = random.Random(int(sys.argv[1], 16))
    per_room = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    for room, found in rooms().items():
        for path, line, comment, code in sorted(draw.sample(found, per_room), key=lambda c: c[:2]):
            print(f"--- {room}: {path}:{line}", *comment, "  code:", *code, sep="\n")


if __name__ == "__main__":
    main()
