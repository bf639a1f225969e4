#!/usr/bin/env python3
"""Do two builds hold the same machine code? Compares the .text of every entry.

    compare_cubins.py OLD NEW [--renamed TABLE]

OLD and NEW are cubins, or folders of them: entries are looked up by name, so it does not matter
which file holds one. TABLE has a line for each renamed entry, "old_name new_name". Prints the
entries that differ, are missing or are new; exit code 1 unless all of OLD are in NEW unchanged.
"""

import argparse
import pathlib
import struct
import sys

INSTRUCTION_BYTES = 16


def code_of(cubin):
    """Entries of one ELF file: name -> machine code."""
    if cubin[:4] != b"\x7fELF":
        return {}
    table, = struct.unpack_from("<Q", cubin, 40)
    size, count, names_at = struct.unpack_from("<HHH", cubin, 58)
    sections = [struct.unpack_from("<IIQQQQII", cubin, table + i * size) for i in range(count)]
    names = sections[names_at][4]
    entries = {}
    for name, _, _, _, offset, length, _, _ in sections:
        text = cubin[names + name:cubin.index(b"\0", names + name)].decode()
        if text.startswith(".text."):
            entries[text[len(".text."):]] = cubin[offset:offset + length]
    return entries


def entries_in(path):
    path = pathlib.Path(path)
    files = sorted(path.glob("*.cubin")) if path.is_dir() else [path]
    entries = {}
    for file in files:
        patched = file.name.endswith(".patched.cubin")
        for name, code in code_of(file.read_bytes()).items():
            entries[name + " (patched)" if patched else name] = code
    return entries


def renamed(entries, table):
    def new_name(name):
        word, *rest = name.split(" ", 1)
        return " ".join([table.get(word, word), *rest])

    return {new_name(name): code for name, code in entries.items()}


def differences(old, new):
    """One line an entry of which the two builds do not say the same."""
    lines = []
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            lines.append(f"{name}: missing")
        elif name not in old:
            lines.append(f"{name}: new")
        elif old[name] != new[name]:
            before, after = (len(code[name]) // INSTRUCTION_BYTES for code in (old, new))
            lines.append(f"{name}: differs: {before} -> {after} instructions")
    return lines


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--renamed", metavar="TABLE")
    options = parser.parse_args(arguments)
    table = {}
    if options.renamed:
        rows = pathlib.Path(options.renamed).read_text().splitlines()
        table = dict(row.split() for row in rows if row and not row.startswith("#"))
    old, new = renamed(entries_in(options.old), table), entries_in(options.new)
    lines = differences(old, new)
    print(*lines, sep="\n", end="\n" if lines else "")
    print(f"{len(old)} entries, {len(new)} now: {'the same code' if not lines else 'not the same'}")
    return 1 if not old or any(not line.endswith(": new") for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
