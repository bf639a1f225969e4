"""Tables of docs/registers.md: what tools/calibrate/registers measured on an H200, and the port
model beside it, and where the issue slots of whole kernels go. Used by tools/tables/update_tables.py."""
import renamed

MEASURED, FIT = "h200_registers.json", "h200_registers_fit.json"
PROFILE = "h200_fp32_profile.json"  # by tools/calibrate/issue_profile.py
NOTHING = "*(no results)*"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def load(root, name):
    path = root / "results/calibration" / name
    return renamed.load(path) if path.exists() else None


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
        name = row["name"].replace(" | ", " beside ")  # two warps with different code
        rows.append([name, str(row["instructions"]), *map(number, shares)])
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


def profile_cells(p):
    crowded = [p["crowded"][bank] for bank in ("even", "odd")]
    behind = sum(c["bubbles_behind"] for c in crowded)
    return [p["name"], f"{p['ffma']} of {p['instructions']}", f"{100 * p['issued_slots']:.1f} %",
            f"{100 * p['dispatch_slots']:.1f} %", f"{p['bubbles']:.1f}",
            " + ".join(str(c["ffma"]) for c in crowded), f"{behind:.1f}",
            f"{p['large']['behind_crowded']} of {p['large']['all']}"]


def profiles(file):
    """Where the issue slots of a kernel's inner loop go."""
    if not file:
        return NOTHING
    header = ["kernel", "FFMAs per iteration", "slots used", "slots lost at dispatch", "bubbles per iteration",
              "crowded FFMAs, even + odd", "bubbles 5 behind them",
              "of bubbles of half a cycle and more"]
    about = "; ".join(dict.fromkeys(p["about"] for p in file["profiles"] if p["about"]))
    rows = table(header, [profile_cells(p) for p in file["profiles"]])
    return "\n\n".join([rows, f"{about + '; ' if about else ''}`results/calibration/{PROFILE}`."])


def sections(root):
    """Name of a generated section -> its body."""
    return {**stream_sections(root), "registers_profile": profiles(load(root, PROFILE))}


def stream_sections(root):
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
