"""Shapes that are no squares, beside the vendor's library: thin products, and batches of small ones.

  thin      any page   BF16, one row a shape: each layout, losses in bold   results/tensor/thin*.json
  batches   any page   one row a type and batch: NN and TN                  results/batches/*.json

Made on a GPU:

  build/tessera bench --type bf16 --kernel best --shapes FILE --layout all --mode burst --rounds 3 \\
                      --json results/tensor/thin.json
  build/tessera bench --type f32 --kernel best --batch 1000 -m 64 --layout NN,TN --mode burst \\
                      --json results/batches/f32_1000x64.json        (and so on)
"""
from math import exp, log

import fp32_tables
import renamed
import results_files
from cells import NOTHING, table

NAMES = {"bf16": "BF16", "f16": "FP16", "tf32": "TF32", "f32": "FP32", "f64": "FP64"}


def is_shown(run):
    return (results_files.is_ours(run) and run["mode"] == "burst" and run["ratio_to_vendor"] and
            run["verified"] in ("full", "sampled"))


def loaded(root, paths):
    files = []
    for path in sorted(paths):
        file = renamed.load(path)
        file["name"] = str(path.relative_to(root / "results"))
        results_files.require_one_commit(file, f"results/{file['name']}")
        file["runs"] = [run for run in file["runs"] if is_shown(run)]
        files.append(file)
    return files


def geometric_mean(ratios):
    return exp(sum(map(log, ratios)) / len(ratios))


def cell(run):
    if run is None:
        return "-"
    text = f"{1000 * run['time_ms']['median']:.1f} ({run['ratio_to_vendor']:.2f})"
    return f"**{text}**" if run["ratio_to_vendor"] < 0.995 else text


def within(runs):
    """The ratio where a plan of ours has no more workspace than the vendor's library has."""
    ratios = [fp32_tables.within_vendor_workspace(run)[1] for run in runs]
    differs = any(run.get("within_vendor_workspace") for run in runs)
    return f"{geometric_mean(ratios):.2f}" if differs and None not in ratios else "-"


def shape_text(run):
    p = run["problem"]
    return " x ".join(str(p[side]) for side in "mnk")


def rows_of(files, name_of, layouts):
    """One row for each name: config, a cell a layout, geometric mean, and that within 64 MiB."""
    rows = {}
    for file in files:
        for run in file["runs"]:
            if run["problem"]["layout"] in layouts:  # the ratio is of what the row shows
                rows.setdefault(name_of(run), {})[run["problem"]["layout"]] = run
    for name, by in rows.items():
        configs = sorted({f"{run['kernel']}/{run['config']}" for run in by.values()})
        mean = geometric_mean([run["ratio_to_vendor"] for run in by.values()])
        yield [*name, "; ".join(configs), *(cell(by.get(layout)) for layout in layouts),
               f"{mean:.2f}", within(by.values())]


WORDS = ("Microseconds, in brackets the ratio of speeds to the vendor's: the better of cuBLAS and the "
         "fastest of 12 cuBLASLt candidates, timed in turn, burst; losses in bold. H200, column-major, "
         "random data, verified; *ratio* is the geometric mean.")
WITHIN = ("*Within 64 MiB* is the same with no more workspace than the vendor's, where our plan takes "
          "more.")


def thin(root):
    files = loaded(root, [path for path in (root / "results/tensor").glob("thin*.json")
                          if "variants" not in path.name])
    if not files:
        return NOTHING
    head = ["type", "m x n x k", "kernel", *fp32_tables.LAYOUTS, "ratio", "within 64 MiB"]
    rows = rows_of(files, lambda run: (NAMES[run["problem"]["type"]], shape_text(run)),
                   fp32_tables.LAYOUTS)
    return f"{table(head, list(rows))}\n\n{WORDS} {WITHIN} {results_files.described(files)}."


def batches(root):
    files = loaded(root, (root / "results" / "batches").glob("*.json"))
    if not files:
        return NOTHING
    order = ("bf16", "f16", "tf32", "f32", "f64")
    files.sort(key=lambda file: order.index(file["name"].split("/")[1].split("_")[0]))
    head = ["type", "products", "kernel", "NN", "TN", "ratio"]
    rows = rows_of(files, lambda run: (NAMES[run["problem"]["type"]],
                                       f"{run['problem']['batch']['count']} of {shape_text(run)}"),
                   ("NN", "TN"))
    said = {results_files.code_and_rounds(file) for file in files}
    return (f"{table(head, [row[:-1] for row in rows])}\n\n{WORDS} "
            f"`results/batches/` ({'; '.join(sorted(said))}).")


def sections(root):
    return {"thin": thin(root), "batches": batches(root)}
