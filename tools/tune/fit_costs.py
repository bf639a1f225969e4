"""Fits the cost model's coefficients to the times of a sweep, and writes the table of a GPU.

fit_costs.py PRICE_PLANS GPU --out FILE.inc --title WORDS --train SWEEP... [--goals SWEEP...] [--held SWEEP...]
             [--report FILE.json]

A sweep is a file of `tessera bench --suite drawn --sweep`, or one of `--against-costs`. The library's own model is asked (price_plans), and the
logarithms of predicted and measured time are compared: the differences of one cell's configs among each other count
most, since they decide what is chosen, and near the fastest config more than far from it. Coefficients stay within
bounds that physics sets, and near their start where nothing says otherwise. Sweeps that are held out are of other
seeds, thus of other shapes; their error and regret are printed before and after. Cells of --goals are trained on
with more weight: shapes that a drawn suite has few of. Sweeps may be compressed (.xz). Needs NumPy and SciPy.
"""
import argparse
import json
import lzma
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from scipy.optimize import least_squares, minimize

sys.dont_write_bytecode = True
from fit_bounds import bounds_of, family_of  # noqa: E402

NEAR = 2.0        # a config counts by (fastest / its time) to this power
ABSOLUTE = 0.5    # what a common error of a cell's configs counts, beside differences
WIDTH = 0.05      # of the soft choice, in logarithms
SOFT = 3.0        # what regret counts, beside errors
GOALS = 3.0       # what a cell of --goals counts, beside one that is drawn


def read(path):
    """A sweep, or a file of `--against-costs`, whose cells with two plans are cells of two configs."""
    data = pathlib.Path(path).read_bytes()
    file = json.loads(lzma.decompress(data) if path.endswith(".xz") else data)
    for cell in file["cells"]:
        if "plan" in cell:
            plans = [cell["plan"], cell["other"]] if "other" in cell else []
            cell["configs"] = [[*plan[:3], [], plan[3]] for plan in plans]
    return file


class Model:
    """price_plans, asked with other coefficients: one process for each part of the cells."""

    def __init__(self, program, gpu, sweeps, goals=(), parts=None):
        parts = parts or os.cpu_count()
        self.gpu = gpu
        self.folder = tempfile.TemporaryDirectory()
        files = [[] for _ in range(parts)]
        for number, path in enumerate((*sweeps, *goals)):
            whole = read(path)
            for part, names in enumerate(files):
                names.append(f"{self.folder.name}/{number}_{part}.json")
                cells = whole["cells"][part::parts]
                pathlib.Path(names[-1]).write_text(json.dumps({**whole, "cells": cells}))
        self.processes = [subprocess.Popen([program, gpu, *names], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           text=True) for names in files]
        rows, self.counts = [], []
        for process in self.processes:
            self.start, before = {}, len(rows)
            for line in iter(process.stdout.readline, "rows\n"):
                name, value = line.split()
                self.start[name] = float(value)
            for line in iter(process.stdout.readline, "end\n"):
                rows.append(line.split())
            self.counts.append(len(rows) - before)
        for row in rows:  # of a part of a file: the file
            row[0] = int(pathlib.Path(row[0]).name.split("_")[0])
        cells = {key: i for i, key in enumerate(dict.fromkeys((row[0], row[1]) for row in rows))}
        self.key = [(row[0], int(row[1])) for row in rows]
        self.importance = np.array([GOALS if row[0] >= len(sweeps) else 1.0 for row in rows])
        self.cell = np.array([cells[row[0], row[1]] for row in rows])
        self.name = [row[2] for row in rows]
        self.measured = np.log([float(row[3]) for row in rows])
        self.family = np.array([family_of(name) for name in self.name])
        best = np.full(len(cells), np.inf)
        np.minimum.at(best, self.cell, self.measured)
        self.loss = self.measured - best[self.cell]  # logarithm of the time over the fastest one
        self.current = {}

    def predict(self, values):
        """Logarithms of predicted times, and whether the plan is the one that was timed."""
        ask = [f"set {name} {value!r}\n" for name, value in values.items() if self.current.get(name) != value]
        self.current.update(values)
        for process in self.processes:
            process.stdin.write("".join(ask) + "price\n")
            process.stdin.flush()
        rows = np.array([process.stdout.readline().split() for process, count in zip(self.processes, self.counts)
                         for _ in range(count)], dtype=float)
        known = rows[:, 0] > 0
        return np.log(np.where(known, rows[:, 0], 1)), (rows[:, 1] > 0) & known, known

    def regret(self, predicted, known):
        """Of each cell with a choice: the time of what is predicted to be fastest over the fastest one."""
        losses = []
        order = np.lexsort((predicted, self.cell))
        order = order[known[order]]
        cells, first, count = np.unique(self.cell[order], return_index=True, return_counts=True)
        for begin, number in zip(first, count):
            if number > 1:
                some = self.loss[order[begin:begin + number]]
                losses.append(some[0] - some.min())
        return np.exp(losses)


class Fit:
    def __init__(self, model, values, goes_on):
        self.model = model
        self.fixed, self.names, self.low, self.high, self.start, self.width = dict(values), [], [], [], [], []
        for name, value in values.items():
            bounds = bounds_of(name, value, model.gpu)
            if bounds is None or not self.has_rows(name):
                continue
            self.names.append(name)
            start, low, high, width = bounds
            for to, number in ((self.start, start), (self.low, low), (self.high, high)):
                to.append(np.log(number))
            self.width.append(width)
        self.start, self.width = np.array(self.start), np.array(self.width)
        self.low, self.high = np.array(self.low), np.array(self.high)
        self.start = np.clip(self.start, self.low + 1e-6, self.high - 1e-6)
        self.begin = self.start
        if goes_on:
            now = np.log([max(values[name], 1e-300) for name in self.names])
            self.begin = np.clip(now, self.low + 1e-6, self.high - 1e-6)
        self.groups = self.groups_of()

    def has_rows(self, name):
        return name in self.model.name or "/" not in name

    def values(self, x):
        return {**self.fixed, **{name: float(value) for name, value in zip(self.names, np.exp(x))}}

    def groups_of(self):
        """Coefficients that no row has two of are varied together."""
        own = {}
        for i, name in enumerate(self.names):
            key = "rate" if "/" in name else name.split(".")[0]
            own.setdefault(key, []).append(i)
        rates, shared = own.pop("rate", []), own.pop("passes", []) + own.pop("memory_bytes", [])
        families = [own[key] for key in own]
        together = [[f[i] for f in families if i < len(f)] for i in range(max(map(len, families)))]
        return [rates, *([i] for i in shared), *together]

    def rows_of(self, i):
        name = self.names[i]
        if "/" in name:
            return np.array([row == name for row in self.model.name])
        family = name.split(".")[0]
        if family in ("passes", "memory_bytes"):
            return np.ones(len(self.model.name), bool)
        return self.model.family == family

    def jacobian(self, x, base, same):
        step = 0.01
        rows = [self.rows_of(i) for i in range(len(x))]
        jacobian = np.zeros((len(base), len(x)))
        for group in self.groups:
            if not group:
                continue
            other = x.copy()
            for i in group:
                other[i] += step if x[i] + step <= self.high[i] else -step
            predicted, other_same, _ = self.model.predict(self.values(other))
            for i in group:
                use = rows[i] & same & other_same  # WHY: another plan's price is no derivative
                jacobian[use, i] = (predicted[use] - base[use]) / (other[i] - x[i])
        return jacobian

    def residuals(self, predicted, same):
        m = self.model
        weight = np.where(same, np.exp(-NEAR * m.loss / 2), 0) * np.sqrt(m.importance)
        error = predicted - m.measured
        count = m.cell.max() + 1
        all_weights = np.bincount(m.cell, weight**2, count) + 1e-12
        mean = np.bincount(m.cell, weight**2 * error, count) / all_weights
        return weight, all_weights, error, mean

    def least_squares(self, evaluations=12):
        m, cache = self.model, {}

        def at(x):
            key = x.tobytes()
            if key not in cache:
                cache.clear()
                cache[key] = m.predict(self.values(x))
            return cache[key]

        def function(x):
            predicted, same, _ = at(x)
            weight, _, error, mean = self.residuals(predicted, same)
            return np.concatenate([weight * (error - mean[m.cell]), ABSOLUTE * weight * error,
                                   (x - self.start) / self.width])

        def derivative(x):
            predicted, same, _ = at(x)
            weight, all_weights, _, _ = self.residuals(predicted, same)
            jacobian = self.jacobian(x, predicted, same)
            mean = np.zeros((m.cell.max() + 1, len(x)))
            np.add.at(mean, m.cell, weight[:, None]**2 * jacobian)
            mean /= all_weights[:, None]
            return np.concatenate([weight[:, None] * (jacobian - mean[m.cell]),
                                   ABSOLUTE * weight[:, None] * jacobian, np.diag(1 / self.width)])

        found = least_squares(function, self.begin, derivative, bounds=(self.low, self.high), loss="soft_l1",
                              f_scale=0.15, max_nfev=evaluations)
        return found.x

    def weigh_losses(self, x):
        """Cells of goals whose choice loses 2 % to the best config count more from now on."""
        m = self.model
        predicted, _, known = m.predict(self.values(x))
        least = np.full(m.cell.max() + 1, np.inf)
        np.minimum.at(least, m.cell, np.where(known, predicted, np.inf))
        loses = (predicted == least[m.cell]) & (m.importance > 1) & (m.loss > 0.02)
        lost = np.zeros(len(least), bool)
        lost[m.cell[loses]] = True
        m.importance = np.where(lost[m.cell], np.minimum(4 * m.importance, 400), m.importance)
        print(f"{lost.sum()} cells of goals lose 2 %", flush=True)

    def soft(self, x, iterations=10):
        """The same sum of errors and, with it, the regret of a choice that is not quite sharp."""
        m, count = self.model, self.model.cell.max() + 1

        def function(x):
            predicted, same, known = m.predict(self.values(x))
            jacobian = self.jacobian(x, predicted, same)
            weight, all_weights, error, mean = self.residuals(predicted, same)
            scale, total, gradient = 0.15, 0.0, np.zeros(len(x))
            means = np.zeros((count, len(x)))
            np.add.at(means, m.cell, weight[:, None]**2 * jacobian)
            means /= all_weights[:, None]
            for r, j in ((weight * (error - mean[m.cell]), weight[:, None] * (jacobian - means[m.cell])),
                         (ABSOLUTE * weight * error, ABSOLUTE * weight[:, None] * jacobian)):
                z = np.sqrt(1 + (r / scale)**2)
                total += (scale**2 * (z - 1)).sum()
                gradient += (r / z) @ j
            total += 0.5 * (((x - self.start) / self.width)**2).sum()
            gradient += (x - self.start) / self.width**2
            least = np.full(count, np.inf)
            np.minimum.at(least, m.cell, np.where(known, predicted, np.inf))
            share = np.where(known, np.exp(-(predicted - least[m.cell]) / WIDTH), 0)
            share /= np.bincount(m.cell, share, count)[m.cell] + 1e-300
            loss = np.bincount(m.cell, share * m.loss, count)
            total += self.regret * np.bincount(m.cell, share * m.loss * m.importance, count).sum()
            slope = -share * (m.loss - loss[m.cell]) / WIDTH * m.importance
            gradient += self.regret * (slope @ jacobian)
            return total, gradient

        found = minimize(function, x, jac=True, method="L-BFGS-B", bounds=list(zip(self.low, self.high)),
                         options={"maxiter": iterations, "maxfun": 2 * iterations})
        return found.x


def summary(model, values):
    predicted, same, known = model.predict(values)
    error = (predicted - model.measured)[same]
    regret = model.regret(predicted, known)
    return {"configs": int(same.sum()), "error": round(float(np.abs(error).mean()), 4),
            "error_95": round(float(np.percentile(np.abs(error), 95)), 4), "cells": len(regret),
            "regret": round(float(np.exp(np.log(regret).mean())), 4),
            "regret_95": round(float(np.percentile(regret, 95)), 4),
            "regret_most": round(float(regret.max()), 3),
            "above_5_percent": round(float((regret > 1.05).mean()), 4)}


def write_rows(path, model, values):
    """Tab-separated: file, cell, kernel, measured and predicted microseconds, whether it is the plan that was timed."""
    predicted, same, _ = model.predict(values)
    with open(path, "w") as file:
        for (number, cell), name, us, expected, is_same in zip(model.key, model.name, np.exp(model.measured),
                                                               np.exp(predicted), same):
            file.write(f"{number}\t{cell}\t{name}\t{us:.5g}\t{expected:.5g}\t{int(is_same)}\n")


def table_text(title, values):
    lines = [f"// {line}" for line in title.split("\n")] + [""]
    before = None
    for name, value in values.items():
        group = name.split(".")[0] if "/" not in name else name.split("/")[0]
        if before is not None and "/" not in name and group != before:
            lines.append("")
        before = group
        number = f"{value:.4g}".replace("e+", "e")
        if value >= 1e29:
            number = "kNoLimit"
        if "/" in name:
            kernel, variant = name.split("/")
            lines.append(f'RATE("{kernel}", "{variant}", {number})')
        else:
            lines.append(f"COEFFICIENT({name}, {number})")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("gpu")
    parser.add_argument("--goes-on", action="store_true", help="begins with the table's values, not with those of the bounds")
    for name in ("--out", "--title", "--report"):
        parser.add_argument(name)
    parser.add_argument("--train", nargs="+", required=True)
    parser.add_argument("--goals", nargs="+", default=[])
    parser.add_argument("--held", nargs="+", default=[])
    parser.add_argument("--rows", help="file for what is predicted of each config, to look for what the model lacks")
    parser.add_argument("--soft", type=int, default=10)
    parser.add_argument("--evaluations", type=int, default=12)
    parser.add_argument("--again", type=int, default=0,
                        help="rounds more, in each of which cells of --goals that lose 2 %% count four times as much")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--weights", type=float, nargs=2, default=(SOFT, GOALS),
                        help="of regret beside errors, and of a cell of --goals beside one that is drawn")
    given = parser.parse_args()
    model = Model(given.program, given.gpu, given.train, given.goals, given.jobs)
    model.importance = np.where(model.importance > 1, given.weights[1], 1.0)
    held = Model(given.program, given.gpu, given.held, parts=given.jobs) if given.held else None
    goals = Model(given.program, given.gpu, given.goals, parts=given.jobs) if given.goals else None
    report = {"train": {"before": summary(model, model.start)}}
    if goals:
        report["goals"] = {"before": summary(goals, model.start)}
    if held:
        report["held"] = {"before": summary(held, model.start)}
    fit = Fit(model, dict(model.start), given.goes_on)
    fit.regret = given.weights[0]
    x = fit.least_squares(given.evaluations)
    report["train"]["least squares"] = summary(model, fit.values(x))
    print(json.dumps(report, indent=1), flush=True)
    if given.soft:
        x = fit.soft(x, given.soft)
    for _ in range(given.again):
        fit.weigh_losses(x)
        x = fit.soft(x, given.soft)
    values = fit.values(x)
    report["train"]["after"] = summary(model, values)
    if goals:
        report["goals"]["after"] = summary(goals, values)
    if held:
        report["held"]["after"] = summary(held, values)
    print(json.dumps(report, indent=1))
    at_bounds = [name for name, v, low, high in zip(fit.names, x, fit.low, fit.high)
                 if min(v - low, high - v) < 0.01]
    print("at a bound:", ", ".join(f"{name} {values[name]:.4g}" for name in at_bounds))
    if given.rows:
        write_rows(given.rows, model, values)
    if given.out:
        with open(given.out, "w") as file:
            file.write(table_text(given.title, values))
    if given.report:
        with open(given.report, "w") as file:
            json.dump(report, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
