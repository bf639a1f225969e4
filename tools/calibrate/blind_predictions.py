#!/usr/bin/env python3
"""Predictions of the planner's cost model beside measured times, of shapes that nobody looked at before.

  tools/calibrate/blind_predictions.py predict build/tessera --seed 7 results/calibration/h200_blind.json
  tools/calibrate/blind_predictions.py commands results/calibration/h200_blind.json     (run them on a GPU)
  tools/calibrate/blind_predictions.py add results/calibration/h200_blind.json blind_*.json

`predict` draws twelve shapes and layouts, three of each type, and writes what `tessera bench --why`
says of them. That file is committed before anything is timed. `commands` prints a bench command for
each of its rows; `add` puts what they measured beside what was predicted, and refuses files of
another kernel than the predicted one. Python 3, standard library only.
"""
import argparse
import json
import random
import statistics
import subprocess
import sys
from pathlib import Path

SCHEMA = "tessera.blind/1"
TYPES = ("bf16", "f16", "tf32", "f64")
LAYOUTS = ("NN", "NT", "TN", "TT")
EACH = 3                    # shapes of a type
SMALLEST, LARGEST = 256, 8192
ALIGNED = 0.75              # of the shapes: all sides multiples of 16


def drawn(seed):
    """(type, m, n, k, layout), sides uniform on a logarithmic scale."""
    draw = random.Random(seed)
    for type_ in TYPES:
        for _ in range(EACH):
            sides = [round(SMALLEST * (LARGEST / SMALLEST) ** draw.random()) for _ in range(3)]
            if draw.random() < ALIGNED:
                sides = [side // 16 * 16 for side in sides]
            yield type_, *sides, draw.choice(LAYOUTS)


def predicted(program, type_, m, n, k, layout):
    command = [program, "bench", "--why", "--type", type_, "-m", str(m), "-n", str(n), "-k", str(k),
               "--layout", layout, "--json", "-"]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    best = said["problems"][0]["candidates"][0]
    return {"type": type_, "m": m, "n": n, "k": k, "layout": layout, "kernel": best["kernel"],
            "config": best["config"], "predicted_us": best["predicted_us"]["total"]}


def version_of(program):
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    return said.strip()


def predict(options):
    rows = [predicted(options.program, *shape) for shape in drawn(options.seed)]
    result = {"schema": SCHEMA, "program": version_of(options.program), "seed": options.seed,
              "rows": rows}
    options.file.write_text(json.dumps(result, indent=1) + "\n")


def name_of(row):
    return f"blind_{row['type']}_{row['m']}x{row['n']}x{row['k']}_{row['layout']}.json"


def commands(options):
    for row in json.loads(options.file.read_text())["rows"]:
        print(f"build/tessera bench --device cuda --kernel best --type {row['type']} -m {row['m']} "
              f"-n {row['n']} -k {row['k']} --layout {row['layout']} --mode burst --rounds 3 "
              f"--json {name_of(row)}")


def add(options):
    result = json.loads(options.file.read_text())
    measured = {path.name: json.loads(path.read_text()) for path in options.measured}
    for row in result["rows"]:
        file = measured.get(name_of(row))
        if file is None:
            sys.exit(f"{name_of(row)} is missing: run what 'commands' prints")
        run = next(run for run in file["runs"] if not run.get("workspace_limit"))
        if (run["kernel"], run["config"]) != (row["kernel"], row["config"]):
            sys.exit(f"{name_of(row)} timed {run['kernel']}/{run['config']}, but predicted was "
                     f"{row['kernel']}/{row['config']}")
        row["measured_us"] = 1000 * run["time_ms"]["median"]
        row["verified"] = run["verified"]
        row["error"] = row["predicted_us"] / row["measured_us"] - 1
        result["commit"], result["device"] = run["commit"], run["device"]
        result["measured_on"] = file["environment"]["date"]
    errors = [abs(row["error"]) for row in result["rows"]]
    result["median_error"], result["largest_error"] = statistics.median(errors), max(errors)
    options.file.write_text(json.dumps(result, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)
    step = steps.add_parser("predict")
    step.add_argument("program")
    step.add_argument("--seed", type=int, required=True)
    step.add_argument("file", type=Path)
    step.set_defaults(run=predict)
    step = steps.add_parser("commands")
    step.add_argument("file", type=Path)
    step.set_defaults(run=commands)
    step = steps.add_parser("add")
    step.add_argument("file", type=Path)
    step.add_argument("measured", type=Path, nargs="+")
    step.set_defaults(run=add)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
