"""The table of FP32 products beside the vendor's library, from results/h200_fp32*.json.

  fp32            any page   a row a size: each layout, geometric means, goals; losses in bold
  fp32_headline   any page   one sentence of it
  fp32_short      any page   five squares: ours, the vendor's, the ratio

Only verified runs count, and of sustained ones also those whose kernel and problem a burst run has
verified. Of several runs of one problem the newest; files that compare variants (or
other settings) of one problem are left out: the table says what `--kernel best` does. A file whose
runs are of several commits is refused.

The files are made on a GPU:

  build/tessera bench --kernel best --suite fp32 --mode burst --json results/h200_fp32.json
  build/tessera bench --kernel best --suite fp32_skinny --mode burst \\
                      --json results/h200_fp32_skinny.json
  build/tessera bench --kernel best -m 8192 --layout all --mode sustained --energy \\
                      --json results/h200_fp32_energy.json
"""
import math
from dataclasses import dataclass

import renamed
import results_files
from cells import table

LAYOUTS = ("NN", "NT", "TN", "TT")
HEADLINE_SIZE = 8192


@dataclass(frozen=True)
class Goal:
    """Of speed over the vendor's: the mean over the layouts, and each of them; of TFLOP/s the mean."""
    mean: float
    each: float = 0
    tflops: float = 0

    def text(self):
        parts = [f"{self.mean:.2f}"]
        if self.each:
            parts.append(f"each {self.each:.2f}")
        if self.tflops:
            parts.append(f"{self.tflops:g} TFLOP/s")
        return ", ".join(parts)


SQUARE_GOALS = {4096: Goal(1.10, 1.06), 8192: Goal(1.10, 1.06, 58), 16384: Goal(1.10, 1.06),
                1024: Goal(1.10), 2048: Goal(1.08), 512: Goal(1.2),
                **{size: Goal(1.06) for size in (1000, 1023, 2047, 4095, 4097, 5000)}}
THIN_GOAL = Goal(1.0, 1.0)
NOTHING = "not measured yet"
SECTIONS = ("fp32", "fp32_headline", "fp32_short")


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def shape_of(run):
    p = run["problem"]
    return p["m"], p["n"], p["k"]


def problem_of(run):
    return (*shape_of(run), run["problem"]["layout"])


def work_of(run):
    return (*problem_of(run), run["kernel"], run["config"])


def runs_of(file, mode, verified=frozenset()):
    """Comparable runs by problem; none of a file that has several for one problem."""
    runs = [run for run in file["runs"] if results_files.is_ours(run) and
            run["mode"] == mode and run["ratio_to_vendor"] and
            (run["verified"] in ("full", "sampled") or work_of(run) in verified)]
    by_problem = {problem_of(run): run for run in runs}
    return by_problem if len(by_problem) == len(runs) else {}


def newest_runs(files, mode, verified=frozenset()):
    newest = {}
    for file in sorted(files, key=lambda file: file["environment"]["date"]):
        newest.update(runs_of(file, mode, verified))
    return newest


def sources(files, runs):
    """The files that these runs come from, each with its commit and rounds."""
    shown = {id(run) for run in runs}
    return results_files.described([file for file in files
                                    if any(id(run) in shown for run in file["runs"])])


def within_vendor_workspace(run):
    """TFLOP/s and ratio in no more workspace than the vendor's library has; None: no plan fits."""
    within = run.get("within_vendor_workspace")
    if within is None:
        return run["tflops"], run["ratio_to_vendor"]
    return (within["tflops"], within["ratio_to_vendor"]) if within["tflops"] else None


class Row:
    """One size in all layouts that were measured."""

    def __init__(self, shape, runs):
        self.shape = shape
        self.runs = {layout: runs[(*shape, layout)] for layout in LAYOUTS
                     if (*shape, layout) in runs}
        self.ratios = {layout: run["ratio_to_vendor"] for layout, run in self.runs.items()}
        self.ratio = geometric_mean(self.ratios.values())
        self.tflops = mean(run["tflops"] for run in self.runs.values())
        self.vendor = mean(run["tflops"] / run["ratio_to_vendor"] for run in self.runs.values())
        self.is_square = len(set(shape)) == 1
        self.goal = SQUARE_GOALS.get(shape[0]) if self.is_square else THIN_GOAL

    def name(self):
        return str(self.shape[0]) if self.is_square else " x ".join(map(str, self.shape))

    def is_whole(self):
        return len(self.runs) == len(LAYOUTS)

    def missing(self):
        """How far from the goal, as a factor: at least 1 where it is reached."""
        parts = [self.ratio / self.goal.mean]
        if self.goal.each:
            parts.append(min(self.ratios.values()) / self.goal.each)
        if self.goal.tflops:
            parts.append(self.tflops / self.goal.tflops)
        return min(parts)

    def reached(self):
        return self.is_whole() and self.missing() >= 1

    def verdict(self):
        if not self.is_whole():
            return f"{len(self.runs)} of {len(LAYOUTS)} layouts"
        return "yes" if self.reached() else f"no, {100 * (self.missing() - 1):.1f} %"

    def cell(self, layout):
        if layout not in self.runs:
            return "-"
        text = f"{self.runs[layout]['tflops']:.1f} ({self.ratios[layout]:.2f})"
        return f"**{text}**" if self.ratios[layout] < 1 else text

    def knows_workspace(self):
        return all(run.get("workspace_bytes") is not None for run in self.runs.values())

    def workspace_cells(self):
        """The most that a layout takes, and speed and ratio without more than the vendor's 64 MiB."""
        if not self.knows_workspace():
            return ["-", "-"]
        most = max(run["workspace_bytes"] for run in self.runs.values())
        within = [within_vendor_workspace(run) for run in self.runs.values()]
        if None in within:
            return [results_files.megabytes(most), "no plan"]
        ratio = geometric_mean(ratio for _, ratio in within)
        return [results_files.megabytes(most), f"{mean(speed for speed, _ in within):.1f} ({ratio:.2f})"]

    def cells(self):
        configs = ", ".join(dict.fromkeys(run["config"] for run in self.runs.values()))
        return [self.name(), configs, *map(self.cell, LAYOUTS), f"{self.tflops:.1f}",
                f"{self.vendor:.1f}", f"{self.ratio:.2f}", self.goal.text(), self.verdict()]


SHORT_SIZES = (512, 1024, 2048, 4096, 8192)


def short_table(rows):
    chosen = [row for row in rows if row.is_square and row.is_whole() and row.shape[0] in SHORT_SIZES]
    if not chosen:
        return NOTHING
    return table(["m = n = k", "Tessera", "NVIDIA's library", "ratio"],
                 [[row.name(), f"{row.tflops:.1f}", f"{row.vendor:.1f}", f"{row.ratio:.2f}"]
                  for row in chosen])


WORKSPACE_HEADER = ["workspace", "within 64 MiB"]
HEADER = ["size", "tile", *LAYOUTS, "mean TFLOP/s", "vendor", "ratio", "goal", "reached"]


def rows_of(runs):
    """Squares by size, then thin shapes as they were measured."""
    shapes = list(dict.fromkeys(problem[:3] for problem in runs))
    squares = sorted(shape for shape in shapes
                     if len(set(shape)) == 1 and shape[0] in SQUARE_GOALS)
    thin = [shape for shape in shapes if len(set(shape)) > 1]
    return [Row(shape, runs) for shape in squares + thin]


def means(rows):
    """The geometric mean over the thin shapes."""
    thin = [row.ratio for row in rows if not row.is_square]
    return f"Geometric mean over the thin shapes: {geometric_mean(thin):.2f}." if thin else ""


def sustained(runs):
    """Speed of a hot GPU, and joules."""
    words = []
    for row in rows_of(runs):
        words.append(f"{row.name()}, mean over {', '.join(row.runs)}: {row.tflops:.1f} TFLOP/s ({row.ratio:.2f} of the vendor's)")
        used = [run["energy"] for run in row.runs.values()
                if run.get("energy") and run["energy"]["vendor_joules_per_tflop"]]
        if used:
            own = mean(use["joules_per_tflop"] for use in used)
            vendor = mean(use["vendor_joules_per_tflop"] for use in used)
            words[-1] += f", {own:.2f} joules a TFLOP (vendor {vendor:.2f})"
    return "Sustained: " + "; ".join(words) + "." if words else ""


def table_of(rows):
    """Workspace is shown once a file says it."""
    if not any(row.knows_workspace() for row in rows):
        return table(HEADER, [row.cells() for row in rows])
    return table(HEADER + WORKSPACE_HEADER, [row.cells() + row.workspace_cells() for row in rows])


def workspace_words(rows):
    if not any(row.knows_workspace() for row in rows):
        return ""
    return ("*workspace* is the most that our plan takes in any layout; *within 64 MiB*, as much as the "
            "vendor's library is given, are mean TFLOP/s and ratio of our plans held to that, timed in "
            "the same run.")


def load(path):
    file = renamed.load(path)
    file["name"] = path.name
    return file


def headline(rows):
    at = next((row for row in rows if row.shape == (HEADLINE_SIZE,) * 3 and row.is_whole()), None)
    if not at:
        return NOTHING
    whole = [row for row in rows if row.is_whole()]
    faster = sum(min(row.ratios.values()) >= 1 for row in whole)
    return (f"**{at.tflops:.1f} TFLOP/s at {HEADLINE_SIZE}, {at.ratio:.2f} times NVIDIA's library** "
            f"(FP32 in FP32 arithmetic, mean over the four layouts); at {faster} of {len(whole)} "
            "sizes and shapes no layout is slower than it.")


def result_files(root):
    files = [load(path) for path in sorted((root / "results").glob("h200_fp32*.json"))]
    files = [file for file in files if file.get("schema") == "tessera.results/1"]
    for file in files:
        results_files.require_one_commit(file, f"results/{file['name']}")
    return files


def sections(root):
    files = result_files(root)
    burst = newest_runs(files, "burst")
    rows = rows_of(burst)
    if not rows:
        return {name: NOTHING for name in SECTIONS}
    environment = max((file["environment"] for file in files), key=lambda e: e["date"])
    hot = newest_runs(files, "sustained", {work_of(run) for run in burst.values()})
    words = [table_of(rows),
             "TFLOP/s, in brackets the ratio to the vendor's: the better of cuBLAS and the fastest "
             "of 12 cuBLASLt candidates, timed in turn, burst; where it is slower, in bold. FP32 in "
             "FP32 arithmetic, column-major, random data, verified; *ratio* is the geometric mean "
             f"over the layouts. {sum(row.reached() for row in rows)} of {len(rows)} goals reached.",
             workspace_words(rows),
             means(rows),
             sustained(hot),
             f"{environment['device']['name']}, driver {environment['device']['driver']}, "
             f"{environment['date'][:10]}; {environment['libraries']['vendor']}. From `results/`: "
             f"{sources(files, [*burst.values(), *hot.values()])}."]
    return dict(zip(SECTIONS, ("\n\n".join(filter(None, words)), headline(rows), short_table(rows))))
