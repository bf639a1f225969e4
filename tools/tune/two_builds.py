#!/usr/bin/env python3
"""Times the library of two builds in turn: whether a change of the source cost speed anywhere.

two_builds.py OLD NEW --out results/tune/CARD_two_builds.json [--types f64,f32] [--sizes 1024,4096] [--rounds 2]

OLD and NEW are the `tessera` programs of two builds, each beside its images. Each round times all square
products of a type in all layouts with one program and then with the other one; the program that begins
changes from type to type. Each program plans for itself, so a change of plans counts, too. Printed: the
geometric mean of the speed ratio by round, and the products below LEAST in every round.

`tessera bench --against` compares the code of two builds more closely, by the same plans in one process, but
only while the parameters of their kernels are the same.
"""
import argparse
import json
import math
import subprocess
import sys

TYPES = "bf16,f16,tf32,f32,f64"
SIZES = "1024,2048,4096,8192"
LEAST = 0.98


def timed(program, element_type, sizes, bench_rounds):
    """The output of one bench run: every size and layout of a type."""
    return json.loads(subprocess.run(
        [program, "bench", "--kernel", "best", "--type", element_type, "-m", sizes, "--layout", "all",
         "--mode", "burst", "--workspace-limit", "none", "--rounds", str(bench_rounds), "--json", "-"],
        check=True, stdout=subprocess.PIPE).stdout)


def cells_of(file):
    """(size, layout) -> kernel, milliseconds of ours and of the vendor's; of runs with checked results alone."""
    return {(run["problem"]["m"], run["problem"]["layout"]):
            (f"{run['kernel']}/{run['config']}", run["time_ms"]["median"], run["vendor"]["time_ms"]["median"])
            for run in file["runs"] if run["verified"] in ("full", "sampled") and run.get("workspace_limit") is None}


def joined(rounds):
    """rounds: a list of {type: (old file, new file)}. One entry for each product that both programs timed."""
    cells = {}
    for files in rounds:
        for element_type, (old, new) in files.items():
            old, new = cells_of(old), cells_of(new)
            for key in sorted(old.keys() & new.keys()):
                cell = cells.setdefault((element_type, *key), {"type": element_type, "size": key[0], "layout": key[1],
                                                               "old": old[key][0], "new": new[key][0], "old_ms": [],
                                                               "new_ms": [], "vendor_ms": []})
                cell["old_ms"].append(round(old[key][1], 6))
                cell["new_ms"].append(round(new[key][1], 6))
                cell["vendor_ms"].append([round(old[key][2], 6), round(new[key][2], 6)])
    return list(cells.values())


def ratios(cell):
    """Speed of the new program over that of the old one, by round."""
    return [old / new for old, new in zip(cell["old_ms"], cell["new_ms"])]


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(cells):
    """Lines: a mean for each type and round, then the products below LEAST in every round."""
    lines = []
    for element_type in dict.fromkeys(cell["type"] for cell in cells):
        of_type = [ratios(cell) for cell in cells if cell["type"] == element_type]
        means = [mean(of_round) for of_round in zip(*of_type)]
        lines.append(f"{element_type}: {', '.join(f'{one:.4f}' for one in means)} ({len(of_type)} products)")
    everything = [ratio for cell in cells for ratio in ratios(cell)]
    lines.append(f"all: {mean(everything):.4f}")
    for cell in cells:
        if max(ratios(cell)) < LEAST:
            lines.append(f"below {LEAST}: {cell['type']} {cell['size']} {cell['layout']} "
                         f"{', '.join(f'{one:.3f}' for one in ratios(cell))} ({cell['old']} -> {cell['new']})")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--out", required=True)
    parser.add_argument("--types", default=TYPES)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--bench-rounds", type=int, default=3)
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error(f"--rounds is {given.rounds}, but must be at least 1")
    rounds, environments = [], {}
    for number in range(given.rounds):
        files = {}
        for index, element_type in enumerate(given.types.split(",")):
            order = [("old", given.old), ("new", given.new)]
            pair = {}
            for name, program in order if (number + index) % 2 == 0 else reversed(order):
                print(f"round {number + 1}: {element_type}, {name}", file=sys.stderr)
                pair[name] = timed(program, element_type, given.sizes, given.bench_rounds)
                environments[name] = pair[name]["environment"]
            files[element_type] = (pair["old"], pair["new"])
        rounds.append(files)
    cells = joined(rounds)
    if not cells:
        sys.exit("two_builds.py: no product was timed and verified by both programs")
    new = environments["new"]
    stored = {"schema": "tessera.two_builds/1", "old_commit": environments["old"]["commit"],
              "new_commit": new["commit"], "gpu": new["device"]["name"], "driver": new["device"].get("driver"),
              "vendor": new["libraries"]["vendor"], "bench_rounds": given.bench_rounds, "cells": cells}
    with open(given.out, "w") as file:
        json.dump(stored, file, indent=1)
        file.write("\n")
    print("\n".join(summary(cells)))


if __name__ == "__main__":
    main()
