"""Tensor cores beside the vendor's library: BF16, FP16, TF32 and FP64, one row a type and size.

  tensor        any page   each layout, workspace, losses in bold    results/tensor/{bf16,f16,tf32,f64}*.json
  tensor_short_bf16, _f16_tf32, _f64   any page   means over the layouts at a few sizes   the same

  promoted      any page   candidates of a promoting main loop   results/calibration/h100_promoted.json

Made on a GPU:

  build/tessera bench --type bf16 --kernel best -m 1024,2048,4096,8192 --layout all --mode burst \\
                      --json results/tensor/bf16.json        (and so on: each file names its command)
"""
import json
from math import exp, log

import fp32_tables
import renamed
import results_files

FILES = ("bf16", "bf16_odd", "f16", "f16_odd", "tf32", "tf32_small", "tf32_odd", "tf32_16384", "f64", "f64_odd",
         "f64_16384")
SHORT = (1024, 2048, 4095, 4096, 8192)  # sizes of README's tables
SHORT_TABLES = (("bf16",), ("f16", "tf32"), ("f64",))
NAMES = {"bf16": "BF16", "f16": "FP16", "tf32": "TF32", "f64": "FP64"}


def loaded(root):
    files = []
    for name in FILES:
        path = root / "results" / "tensor" / f"{name}.json"
        if path.exists():
            file = renamed.load(path)
            file["name"] = f"tensor/{path.name}"
            results_files.require_one_commit(file, f"results/{file['name']}")
            files.append(file)
    return files


def rows_of(files):
    """(type, size) -> layout -> run; verified and timed ones, of one kernel's plan without a limit."""
    rows = {}
    for file in files:
        for run in file["runs"]:
            timed = run["verified"] in ("full", "sampled") and run["tflops"] and run["ratio_to_vendor"]
            if timed and not run.get("workspace_limit"):
                key = (run["problem"]["type"], run["problem"]["m"])
                rows.setdefault(key, {})[run["problem"]["layout"]] = run
    order = list(NAMES)
    return dict(sorted(rows.items(), key=lambda item: (order.index(item[0][0]), item[0][1])))


def means(by):
    """Mean TFLOP/s, that of the vendor, and the geometric mean of the ratios."""
    ours = [run["tflops"] for run in by.values()]
    vendor = [run["tflops"] / run["ratio_to_vendor"] for run in by.values()]
    ratio = exp(sum(log(run["ratio_to_vendor"]) for run in by.values()) / len(by))
    return [f"{sum(ours) / len(ours):.1f}", f"{sum(vendor) / len(vendor):.1f}", f"{ratio:.2f}"]


def cell(run):
    if run is None:
        return "-"
    text = f"{run['tflops']:.1f} ({run['ratio_to_vendor']:.2f})"
    return f"**{text}**" if run["ratio_to_vendor"] < 0.995 else text


def workspace(by):
    most = max((run.get("workspace_bytes") or 0) for run in by.values()) / (1 << 20)
    return f"{most:.4g}" if most else "-"


def short_sections(rows):
    """README's tables: one for each of SHORT_TABLES; the type is a column where there are two."""
    sections = {}
    for types in SHORT_TABLES:
        head = ["m = n = k", "Tessera", "NVIDIA's library", "ratio"]
        named = len(types) > 1
        short = [([NAMES[type_]] if named else []) + [str(size), *means(by)]
                 for (type_, size), by in rows.items() if type_ in types and size in SHORT]
        table = fp32_tables.table((["type"] if named else []) + head, short)
        sections["tensor_short_" + "_".join(types)] = table if short else fp32_tables.NOTHING
    return sections


def promoted(root):
    """TFLOP/s of each candidate, and the best of the plain products of three times the k."""
    path = root / "results/calibration/h100_promoted.json"
    if not path.exists():
        return fp32_tables.NOTHING
    file = json.loads(path.read_text())
    columns = [{run["name"]: run["tflops_of_products"] for run in size["runs"]} for size in file["sizes"]]
    vendor = [max(v for name, v in column.items() if name.startswith("cuBLAS")) for column in columns]
    rows = [["plain product of 3 k, ours"] + [f"{column['ours']:.0f}" for column in columns],
            ["plain product of 3 k, vendor"] + [f"{v:.0f}" for v in vendor]]
    for name in columns[0]:
        if name != "ours" and not name.startswith("cuBLAS"):
            rows.append([name.replace("_", " ")] + [f"{column[name]:.0f} ({column[name] / best:.2f})"
                                                    for column, best in zip(columns, vendor)])
    head = ["TFLOP/s"] + [f"{size['m']} x {size['n']} x {size['k']}" for size in file["sizes"]]
    environment = file["environment"]
    return fp32_tables.table(head, rows) + (
        f"\n\nIn brackets: of the vendor's. {environment['device']['name']}, {environment['date'][:10]}, "
        f"{environment['libraries']['vendor']}; burst, five rounds in turn, random numbers; "
        "`results/calibration/h100_promoted.json`.")


def sections(root):
    return {**tensor_sections(root), "promoted": promoted(root)}


def tensor_sections(root):
    files = loaded(root)
    rows = rows_of(files)
    if not rows:
        return {"tensor": fp32_tables.NOTHING, **short_sections(rows)}
    full = []
    for (type_, size), by in rows.items():
        configs = sorted({run["config"] for run in by.values()})
        full.append([NAMES[type_], str(size), ", ".join(configs),
                     *(cell(by.get(layout)) for layout in fp32_tables.LAYOUTS), *means(by),
                     workspace(by)])
    words = ("TFLOP/s, in brackets the ratio to the vendor's: the better of cuBLAS and the fastest of "
             "12 cuBLASLt candidates with 64 MiB of workspace, timed in turn, burst; where we are "
             "slower by half a percent or more, in bold. Column-major, random data, verified; *ratio* is "
             "the geometric mean over the layouts; *workspace*: the most that a plan of ours takes, in "
             f"MiB. {results_files.described(files)}.")
    head = ["type", "m = n = k"]
    tail = ["TFLOP/s", "vendor", "ratio"]
    return {"tensor": fp32_tables.table(head + ["config", *fp32_tables.LAYOUTS] + tail + ["workspace"],
                                        full) + "\n\n" + words,
            **short_sections(rows)}
