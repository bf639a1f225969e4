"""The table of FP32 products beside the vendor's library, from results/h200_fp32*.json.

  fp32   any page   a row a size: geometric means over the four layouts beside the goals, losses shown

The files are made on a GPU:

  build/tessera bench --kernel best --suite fp32 --json results/h200_fp32.json
  build/tessera bench --kernel best --suite fp32_skinny --json results/h200_fp32_skinny.json
  build/tessera bench --kernel best -m 8192 --layout all --mode sustained --energy \\
                      --json results/h200_fp32_energy.json
"""
import json
import math

# Of speed over the vendor's: what the mean over the layouts should reach, and each of them.
GOALS = {4096: (1.10, 1.06), 8192: (1.10, 1.06), 16384: (1.10, 1.06),
         1024: (1.10, 0), 2048: (1.10, 0), 512: (1.3, 0),
         **{size: (1.12, 0) for size in (1000, 1023, 2047, 4095, 4097, 5000)}}
SKINNY_GOAL = (1.0, 0)
NOTHING = "not measured yet"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def shape_of(run):
    p = run["problem"]
    return p["m"], p["n"], p["k"]


def is_comparable(run):
    return run["mode"] == "burst" and run["ratio_to_vendor"] and run["verified"] in (
        "full", "sampled")


def verdict(mean, worst, goal):
    short = min(mean / goal[0], worst / goal[1] if goal[1] else math.inf)
    return "yes" if short >= 1 else f"no, {100 * (short - 1):.1f} %"


def summary_row(name, runs, goal):
    ratios = {run["problem"]["layout"]: run["ratio_to_vendor"] for run in runs}
    mean = geometric_mean(ratios.values())
    worst = min(ratios, key=ratios.get)
    speed = geometric_mean([run["tflops"] for run in runs])
    configs = ", ".join(dict.fromkeys(run["config"] for run in runs))
    return [name, configs, f"{speed:.1f}", f"{speed / mean:.1f}", f"{mean:.2f}",
            f"{ratios[worst]:.2f} ({worst})",
            f"{goal[0]:.2f}" + (f", worst {goal[1]:.2f}" if goal[1] else ""),
            verdict(mean, ratios[worst], goal)]


HEADER = ["size", "tile", "TFLOP/s", "vendor", "ratio", "worst", "goal", "reached"]


def squares(runs):
    """A row a size that was measured in all four layouts."""
    rows = []
    for size in sorted(GOALS):
        of_size = {run["problem"]["layout"]: run for run in runs
                   if shape_of(run) == (size, size, size)}
        if len(of_size) == 4:
            rows.append(summary_row(str(size), list(of_size.values()), GOALS[size]))
    return rows


def skinny(runs):
    shapes = dict.fromkeys(shape_of(run) for run in runs if len(set(shape_of(run))) > 1)
    return [summary_row(" x ".join(map(str, shape)),
                        [run for run in runs if shape_of(run) == shape], SKINNY_GOAL)
            for shape in shapes]


def energy(runs):
    words = []
    for run in runs:
        use = run.get("energy")
        if not use or not use["vendor_joules_per_tflop"]:
            continue
        m, _, _ = shape_of(run)
        words.append(f"{m} {run['problem']['layout']} {use['joules_per_tflop']:.2f} "
                     f"({use['vendor_joules_per_tflop']:.2f})")
    return ["Joules a TFLOP, sustained, and in brackets the vendor's: " + ", ".join(words) + "."
            ] if words else []


def sections(root):
    files = [json.loads(path.read_text())
             for path in sorted((root / "results").glob("h200_fp32*.json"))]
    runs = [run for file in files for run in file["runs"]]
    timed = [run for run in runs if is_comparable(run)]
    rows = squares(timed) + skinny(timed)
    if not rows:
        return {"fp32": NOTHING}
    environment = files[0]["environment"]
    lost = sum(row[-1] != "yes" for row in rows)
    words = [table(HEADER, rows),
             f"FP32 in FP32 arithmetic, column-major, random data; geometric means over NN, NT, TN "
             f"and TT where a size has them, beside the better of cuBLAS and the fastest of 12 "
             f"cuBLASLt candidates, timed in turn, burst. {len(rows) - lost} of {len(rows)} goals "
             f"reached.", *energy(runs),
             f"{environment['device']['name']}, driver {environment['device']['driver']}, "
             f"{environment['date'][:10]}; {environment['libraries']['vendor']}; "
             "`results/h200_fp32*.json`."]
    return {"fp32": "\n\n".join(words)}
