"""Tables of docs/registers.md: what tools/calibrate_registers measured on an H200, and the port
model beside it. Used by tools/update_tables.py."""
import json

MEASURED, FIT = "h200_registers.json", "h200_registers_fit.json"
NOTHING = "*(no results)*"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def load(root, name):
    path = root / "results" / name
    return json.loads(path.read_text()) if path.exists() else None


def of_warps(row, warps):
    return next((run["cycles"] for run in row["runs"] if run["warps"] == warps), None)


def number(value):
    return "–" if value is None else f"{value:.2f}"


def streams(file, group, experiments, wanted=lambda name: True):
    """A row a pattern: cycles for an instruction, by warps a sub-core."""
    rows = []
    for row in file[group]:
        if row["experiment"] not in experiments or not wanted(row["name"]):
            continue
        cycles = [of_warps(row, warps) for warps in (1, 2, 4)]
        shares = [None if c is None else c / row["instructions"] / warps
                  for c, warps in zip(cycles, (1, 2, 4))]
        rows.append([row["name"], str(row["instructions"]), *map(number, shares)])
    return table(["pattern", "instructions", "1 warp", "2 warps", "4 warps"], rows)


def blocks(fit):
    """Measured beside modelled, one warp."""
    rows = [[row["name"], number(row["measured"]), number(row["model"])]
            for row in fit["rows"] if row["experiment"] == "E4" and "no flags" not in row["name"]]
    return table(["a thread's tile for one k", "measured", "model"], rows)


def groups(fit):
    rows = [[f"`{name}`", str(sums["rows"]), str(sums["rows"] - sums["missed"]),
             f"{100 * sums['largest']:.0f} %"] for name, sums in fit["groups"].items()]
    return table(["experiment", "patterns", "model exact", "largest miss"], rows)


def loops(file):
    found = {}
    for row in file["loops"]:
        if row["ctas"] > 1:
            found.setdefault(row["instructions"], {})[row["warps"]] = row["cycles"]
    rows = [[str(size), f"{16 * size / 1024:.1f}",
             *(f"{cycles[warps] / size / warps:.3f}" for warps in (1, 2, 4, 8))]
            for size, cycles in sorted(found.items())]
    return table(["instructions", "KiB", "1 warp", "2 warps", "4 warps", "8 warps"], rows)


def distances(file):
    found = {}
    for row in file["distances"]:
        if row["threads"] == 32 and not row["yields"]:
            found.setdefault((row["first"], row["enough"]), []).append(row["second"])
    rows = [[first, str(enough) if enough else "never", "; ".join(seconds)]
            for (first, enough), seconds in found.items()]
    return table(["first", "cycles that are enough", "second"], rows)


def whole_gpu(file):
    rows = [[row["name"], str(row["warps"]), f"{row['tflops']:.1f}", f"{row['power_w']:.0f}"]
            for row in file["whole_gpu"] if row["milliseconds"] > 300]
    return table(["stream, half a second", "warps a sub-core", "TFLOP/s", "W"], rows)


def sections(root):
    """Name of a generated section -> its body."""
    file, fit = load(root, MEASURED), load(root, FIT)
    names = ["peaks", "stalls", "pairs", "loads", "yields", "blocks", "fit", "loops", "distances",
             "whole_gpu"]
    if not file or not fit:
        return {f"registers_{name}": NOTHING for name in names}
    bodies = [streams(file, "issue", ["peak"]), streams(file, "issue", ["stall"]),
              streams(file, "issue", ["pairs"]),
              streams(file, "loads", ["loads"], lambda name: "16x8" in name or "every 16 FFMA" in name),
              streams(file, "yields", ["yields"]), blocks(fit), groups(fit), loops(file),
              distances(file), whole_gpu(file)]
    return {f"registers_{name}": body for name, body in zip(names, bodies)}
