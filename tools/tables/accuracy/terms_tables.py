"""FP32 products from FP16 terms: how accurate they are, and how fast.

  fp32_accuracy   docs/api/compute-types.md   errors by kind of numbers    results/accuracy/h100.json
  fp32_terms      any page                    speed beside the vendor's    results/tensor/h100_f16x3*.json
  fp32_cells      any page                    drawn problems, beside ours  results/tensor/h100_f16x3_cells.json
  fp32_programs   docs/api/compute-types.md   programs of others           results/interface/h100_fp32_programs.json
  fp32_bf16       docs/fp32.md                rows of FP32, BF16 weights   results/mixed/h200_bf16_f32.json

Made on a GPU:

  build/accuracy --json results/accuracy/h100.json
  build/tessera bench --kernel best -m 1024,2048,4096,8192 --type f16x3 --layout NN,NT,TN,TT --mode burst \\
                      --json results/tensor/h100_f16x3.json
  build/tessera bench --kernel best -m 8192 ... --workspace-limit 268435456 --json results/tensor/h100_f16x3_256.json
  build/tessera bench --kernel best -m 1024,... --packed b --json results/tensor/h100_f16x3_packed.json
  build/tessera bench --kernel best -m 4096,8192 ... --fill spread --json results/tensor/h100_f16x3_spread.json
  build/tessera bench --suite drawn --seed N --cells 1000 --fp32 f16x3 --json results/tensor/h100_f16x3_cells.json
  tests/python/clients/fp32_programs.py build/libtessera.so.0 --json results/interface/h100_fp32_programs.json --commit HASH
  build/tessera bench --type f32,bf16,f32,f32,f32 --order row --layout NT --shapes FILE --json results/mixed/h200_bf16_f32.json
"""
import json
import math
import sys

from cells import NOTHING, table
from results_files import code_and_rounds, commits_of, require_one_commit

SCHEMA = "tessera.accuracy/2"
LAYOUTS = 4  # of a mean


def load(path, schema):
    """The file; None where there is none."""
    if not path.exists():
        return None
    file = json.loads(path.read_text())
    if file.get("schema") != schema:
        sys.exit(f"{path}: schema is {file.get('schema')}, but this tool reads {schema}")
    return file


def accuracy(root):
    file = load(root / "results/accuracy/h100.json", SCHEMA)
    if file is None:
        return NOTHING
    rows = []
    for row in file["rows"]:
        name = f"{row['compute']}, by {row['by']}" if row["by"] else row["compute"]
        figures = [f"{row[key]:.3g}" for key in ("worst", "at_95", "mean", "signed_mean")]
        figures[0] = figures[0] if row["passes"] else f"**{figures[0]}**"
        rows.append([row["text"], f"{row['k']}", name, *figures])
    environment = file["environment"]
    return "\n\n".join([
        table(["numbers", "k", "compute", "worst", "95 %", "mean", "signed mean"], rows),
        f"Units of u (\\|A\\| \\|B\\|), u = 2^-24; m = n = {file['m']}. Bold: misses the aim. "
        f"{environment['device']['name']}, {environment['date'][:10]}; `results/accuracy/h100.json`"
        f"{', ' + file['remark'] if file.get('remark') else ''}."])


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def speeds(path):
    """{(size, workspace limit, way): [(TFLOP/s, speed over the vendor's)]}, and the file."""
    file = json.loads(path.read_text())
    require_one_commit(file, path)
    cells = {}
    for run in file["runs"]:
        if run.get("build", "this") != "this" or not run.get("vendor"):
            continue
        if run.get("fill") == "spread":
            way = "spread"
        else:
            way = "packed" if run.get("packed") else "plain"
        key = run["problem"]["m"], run.get("workspace_limit"), way
        cells.setdefault(key, []).append((run["tflops"], run["ratio_to_vendor"]))
    return file, cells


def terms(root):
    paths = [root / f"results/tensor/h100_f16x3{suffix}.json" for suffix in ("", "_256", "_packed", "_spread")]
    if not all(path.exists() for path in paths):
        return NOTHING
    file, cells = speeds(paths[0])
    for path in paths[1:]:  # the last one may be of another commit, which is named
        other, more = speeds(path)
        if "_spread" not in path.name and commits_of(other) != commits_of(file):
            sys.exit(f"{path}: its runs are of another commit than those of {paths[0]}")
        cells.update(more)
    ways = {("plain", None): "as much as it likes", ("plain", 2**28): "256 MiB", ("plain", 2**26): "64 MiB",
            ("packed", None): "any, B packed", ("spread", None): "any, numbers with spread"}
    sizes = sorted({size for size, _, _ in cells})
    rows = []
    for (way, limit), text in ways.items():
        row = []
        for size in sizes:
            # What fits anyway was not run again with a limit.
            runs = cells.get((size, limit, way)) or cells.get((size, None, way))
            is_whole = runs and len(runs) == LAYOUTS
            row.append(f"{sum(t for t, _ in runs) / len(runs):.0f} ({geometric_mean([r for _, r in runs]):.2f})" if is_whole else "")
        rows.append([text, *row])
    environment = file["environment"]
    return "\n\n".join([
        table(["workspace", *(f"{size}" for size in sizes)], rows),
        f"TFLOP/s of 2 m n k (speed relative to the vendor's FP32), mean over four layouts; splitting included. "
        f"{environment['device']['name']}, {environment['date'][:10]}, {environment['libraries']['vendor']}; "
        f"burst, in turn, {code_and_rounds(file)}, with spread {code_and_rounds(other)}; `results/tensor/h100_f16x3*.json`."])


def cells(root):
    """Large FP32 problems of the drawn suite, planned in f16x3 and in FP32."""
    file = load(root / "results/tensor/h100_f16x3_cells.json", "tessera.two_types/1")
    if file is None:
        return NOTHING
    # The same plan in both types takes the same time.
    of_class = {}
    for cell in file["cells"]:
        if "reason" not in cell:
            of_class.setdefault(cell["class"], []).append(cell.get("ratio_to_other", 1.0))
    of_class = {"all": sum(of_class.values(), []), **dict(sorted(of_class.items()))}
    rows = [[name, f"{len(ratios)}", f"{sum(ratios) / len(ratios):.2f}", f"{geometric_mean(ratios):.2f}", f"{min(ratios):.2f}"]
            for name, ratios in of_class.items()]
    environment = file["environment"]
    return "\n\n".join([
        table(["class", "cells", "mean", "geometric", "lowest"], rows),
        f"Speed in f16x3 over that of our plan in FP32, within 64 MiB; FP32 cells with m n k of 2^31 or more, seed "
        f"{environment['suite']['seed']}, commit {environment['commit']}; {environment['device']['name']}, "
        f"{environment['date'][:10]}; `results/tensor/h100_f16x3_cells.json`."])


def programs(root):
    file = load(root / "results/interface/h100_fp32_programs.json", "tessera.fp32_programs/1")
    if file is None:
        return NOTHING
    rows = []
    for name, ways in file["programs"].items():
        for way, found in ways.items():
            judged = ", ".join(f"{key} {value:.4g}" for key, value in found.items() if key != "seconds")
            rows.append([name, way, judged, f"{found['seconds']:.3f}"])
    environment = file["environment"]
    return "\n\n".join([
        table(["program", "FP32 by", "result", "seconds"], rows),
        f"{'One run' if environment['rounds'] == 1 else 'Medians of ' + str(environment['rounds']) + ' runs'}, in turn; `tests/python/clients/fp32_programs.py`. {environment['device']}, "
        f"{environment['date']}, PyTorch {environment['torch']}, library of commit {environment['commit']}."])


def bf16(root):
    """A few rows of FP32 times BF16 weights; bytes are those of A, B and D, once."""
    path = root / "results/mixed/h200_bf16_f32.json"
    if not path.exists():
        return NOTHING
    file = json.loads(path.read_text())
    require_one_commit(file, path)
    rows = []
    for run in file["runs"]:
        m, n, k = (run["problem"][size] for size in "mnk")
        seconds = run["time_ms"]["median"] / 1000
        rows.append([f"{m} x {n} x {k}", run["config"], f"{seconds * 1e6:.1f}",
                     f"{(4 * m * k + 2 * n * k + 4 * m * n) / seconds / 1e12:.2f}", f"{run['ratio_to_vendor']:.2f}"])
    environment = file["environment"]
    return "\n\n".join([
        table(["m x n x k", "tile", "us", "TB/s", "speed relative to the vendor's FP32"], rows),
        f"A of FP32 and B of BF16, row-major NT. {environment['device']['name']}, {environment['date'][:10]}, "
        f"{environment['libraries']['vendor']}; burst, in turn, {code_and_rounds(file)}; `results/mixed/h200_bf16_f32.json`."])


def sections(root):
    return {"fp32_accuracy": accuracy(root), "fp32_terms": terms(root), "fp32_cells": cells(root),
            "fp32_programs": programs(root), "fp32_bf16": bf16(root)}
