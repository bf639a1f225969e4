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
    """The output of one bench run: every size and layout of a type. The exit status is 1 where a result was wrong."""
    run = subprocess.run(
        [program, "bench", "--kernel", "best", "--type", element_type, "-m", sizes, "--layout", "all",
         "--mode", "burst", "--workspace-limit", "none", "--rounds", str(bench_rounds), "--json", "-"],
        stdout=subprocess.PIPE)
    if run.returncode not in (0, 1):
        sys.exit(f"two_builds.py: {program} ended with status {run.returncode}")
    return json.loads(run.stdout)


def cells_of(file):
    """(size, layout) -> kernel, milliseconds of ours and of the vendor's; of runs with checked results alone."""
    return {(run["problem"]["m"], run["problem"]["layout"]):
            (f"{run['kernel']}/{run['config']}", run["time_ms"]["median"],
             run["vendor"]["time_ms"]["median"] if run.get("vendor") else None)
            for run in file["runs"] if run["verified"] in ("full", "sampled") and run.get("workspace_limit") is None}


def joined(rounds):
    """rounds: a list of {type: (old file, new file)}. One entry for each product that a program timed and verified;
    null for a round in which one of the programs did not."""
    cells = {}
    for number, files in enumerate(rounds):
        for element_type, pair in files.items():
            old, new = map(cells_of, pair)
            for key in sorted(old.keys() | new.keys()):
                nothing = [None] * len(rounds)
                cell = cells.setdefault((element_type, *key), {
                    "type": element_type, "size": key[0], "layout": key[1], "old": None, "new": None,
                    "old_ms": nothing, "new_ms": nothing[:], "vendor_ms": nothing[:]})
                for name, timings in (("old", old), ("new", new)):
                    if key in timings:
                        cell[name], cell[f"{name}_ms"][number] = timings[key][0], timings[key][1]
                if key in old and key in new:
                    cell["vendor_ms"][number] = [old[key][2], new[key][2]]
    return list(cells.values())


def ratios(cell):
    """Speed of the new program over that of the old one, by round; None where a program did not time the product."""
    return [old / new if old and new else None for old, new in zip(cell["old_ms"], cell["new_ms"])]


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(cells):
    """Lines: a mean for each type and round, the products below LEAST in every round, and those without a ratio."""
    lines = []
    whole = [cell for cell in cells if None not in ratios(cell)]
    for element_type in dict.fromkeys(cell["type"] for cell in whole):
        of_type = [ratios(cell) for cell in whole if cell["type"] == element_type]
        means = [mean(of_round) for of_round in zip(*of_type)]
        lines.append(f"{element_type}: {', '.join(f'{one:.4f}' for one in means)} ({len(of_type)} products)")
    if whole:
        lines.append(f"all: {mean([ratio for cell in whole for ratio in ratios(cell)]):.4f}")
    for cell in cells:
        name = f"{cell['type']} {cell['size']} {cell['layout']}"
        if None in ratios(cell):
            lines.append(f"not timed or not verified by both programs in every round: {name}")
        elif max(ratios(cell)) < LEAST:
            lines.append(f"below {LEAST}: {name} {', '.join(f'{one:.3f}' for one in ratios(cell))} "
                         f"({cell['old']} -> {cell['new']})")
    return lines


def write(given, environments, cells):
    new = environments["new"]
    stored = {"schema": "tessera.two_builds/1", "old_commit": environments["old"]["commit"],
              "new_commit": new["commit"], "gpu": new["device"]["name"], "driver": new["device"].get("driver"),
              "vendor": new["libraries"].get("vendor"), "bench_rounds": given.bench_rounds, "cells": cells}
    with open(given.out, "w") as file:
        json.dump(stored, file, indent=1)
        file.write("\n")


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
        write(given, environments, joined(rounds))
    cells = joined(rounds)
    if not any(cell["old"] and cell["new"] for cell in cells):
        sys.exit("two_builds.py: no product was timed and verified by both programs")
    print("\n".join(summary(cells)))


if __name__ == "__main__":
    main()
