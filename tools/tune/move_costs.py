"""Moves the numbers of a GPU's table of costs one by one, where the choices of sweeps then lose less.

move_costs.py PRICE_PLANS GPU --out FILE.inc --title WORDS --train SWEEP... [--goals SWEEP...] [--held SWEEP...]
              [--from FILE.inc] [--report FILE.json] [--seconds N]

Goes on where fit_costs.py ends, or from a table of its own: steps of 8 %, then of 4 and 2 %, up and down, each kept
where the regret of a choice that is not quite sharp falls. Sweeps that are held out decide nothing; their error and
regret are printed before and after. Needs NumPy and SciPy.
"""
import argparse
import json
import math
import random
import re
import sys
import time

import numpy as np

sys.dont_write_bytecode = True
from fit_bounds import bounds_of  # noqa: E402
from fit_costs import GOALS, Model, summary, table_text  # noqa: E402

WIDTH = 0.015  # of the soft choice, in logarithms
PRIOR = 0.5    # what a number costs that has moved by e, in regret of one cell
LEAST = 0.02   # a move that gains less is none
OTHER = 0.05   # what a choice costs that no sweep has timed: the same kernel, planned otherwise
STEPS = (0.08, 0.04, 0.02)


def read_table(path, values):
    """The numbers of a file of a table, over those of `values`."""
    text = open(path).read()
    found = dict(re.findall(r"COEFFICIENT\(([a-z0-9_.]+), (.+)\)", text))
    found |= {f"{kernel}/{variant}": value for kernel, variant, value in re.findall(r'RATE\("(.+)", "(.+)", (.+)\)', text)}
    return {name: 1e30 if found.get(name) == "kNoLimit" else float(found.get(name, value)) for name, value in values.items()}


class Moves:
    def __init__(self, model, values):
        self.model, self.values, self.start = model, dict(values), dict(values)
        own = {name.split("/")[0] for name in model.name} | set(model.family)
        self.names = [name for name in values if values[name] > 0 and bounds_of(name, values[name], model.gpu) and (
            name in model.name if "/" in name else name.split(".")[0] in own or name.split(".")[0] in
            ("passes", "memory_bytes"))]
        self.same = model.predict(self.start)[1]
        self.bounds = {name: bounds_of(name, values[name], model.gpu)[1:3] for name in self.names}

    def cost(self, values):
        m, count = self.model, self.model.cell.max() + 1
        predicted, same, known = m.predict(values)
        loss = m.loss + OTHER * (self.same & ~same)
        least = np.full(count, np.inf)
        np.minimum.at(least, m.cell, np.where(known, predicted, np.inf))
        share = np.where(known, np.exp(-np.minimum((predicted - least[m.cell]) / WIDTH, 50)), 0)
        share /= np.bincount(m.cell, share, count)[m.cell] + 1e-300
        total = float((share * loss * m.importance).sum())
        return total + PRIOR * sum(np.log(values[name] / self.start[name])**2 for name in self.names)

    def run(self, seconds, seed=1):
        end, best = time.time() + seconds, self.cost(self.values)
        print(f"regret {best:.3f}", flush=True)
        order = random.Random(seed)
        for step in STEPS:
            moved = True
            while moved and time.time() < end:
                moved, before = False, best
                for name in order.sample(self.names, len(self.names)):
                    for factor in (math.exp(step), math.exp(-step)):
                        while time.time() < end:
                            low, high = self.bounds[name]
                            value = self.values[name] * factor
                            if not low <= value <= high:
                                break
                            now = self.cost({**self.values, name: value})
                            if now > best - LEAST:
                                break
                            self.values[name], best, moved = value, now, True
                print(f"step {step}: regret {best:.3f}, {end - time.time():.0f} s left", flush=True)
                moved = moved and best < 0.997 * before
        return self.values


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("gpu")
    for name in ("--out", "--title", "--report", "--from"):
        parser.add_argument(name)
    parser.add_argument("--train", nargs="+", required=True)
    parser.add_argument("--goals", nargs="+", default=[])
    parser.add_argument("--held", nargs="+", default=[])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--weight", type=float, default=GOALS, help="of a cell of --goals beside one that is drawn")
    parser.add_argument("--jobs", type=int)
    given = parser.parse_args()
    model = Model(given.program, given.gpu, given.train, given.goals, given.jobs)
    model.importance = np.where(model.importance > 1, given.weight, 1.0)
    others = {name: Model(given.program, given.gpu, paths, parts=given.jobs)
              for name, paths in (("goals", given.goals), ("held", given.held)) if paths}
    models = {"train": model, **others}
    report = {name: {"before": summary(one, model.start)} for name, one in models.items()}
    start = read_table(getattr(given, "from"), model.start) if getattr(given, "from") else model.start
    moves = Moves(model, start)
    values = moves.run(given.seconds)
    for name, one in models.items():
        report[name]["after"] = summary(one, values)
    print(json.dumps(report, indent=1))
    moved = {name: (moves.start[name], values[name]) for name in moves.names if values[name] != moves.start[name]}
    print("moved:", ", ".join(f"{name} {a:.4g} -> {b:.4g}" for name, (a, b) in moved.items()))
    if given.out:
        with open(given.out, "w") as file:
            file.write(table_text(given.title or "", values))
    if given.report:
        with open(given.report, "w") as file:
            json.dump(report, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
