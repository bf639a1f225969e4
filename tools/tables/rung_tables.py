"""The generated sections of a rung's README: its times, its counts, its machine code, its patch."""
from collections import Counter

from cells import NOTHING, number, percent, speed, table, transposed
from ladder_results import LADDER_SIZE, operand_mode
from run_counts import (access_rows, is_wide, memory_rows, products, fmas_per_shared_load,
                        requested_intensity, with_share)


def time_cell(run, peak):
    if run["verified"] not in ("full", "sampled"):
        return "wrong" if run["verified"] == "failed" else "not verified"
    words = [speed(run["tflops"]), percent(run["tflops"], peak)]
    ratio = run["ratio_to_vendor"]
    if ratio:
        words.append(f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.3f}")
    return " · ".join(words)


def measured(results, kernel):
    runs = results.times_of(kernel)
    if not runs:
        return NOTHING
    peak, peak_name = results.peak_of(kernel)
    sizes = sorted({r["problem"]["m"] for r in runs})
    cells = {(r["config"], r["problem"]["m"]): time_cell(r, peak) for r in runs}
    rows = [[config] + [cells.get((config, size), "-") for size in sizes]
            for config in dict.fromkeys(r["config"] for r in runs)]
    environment = runs[0]["environment"]
    vendor = environment["libraries"]["vendor"] or "no vendor library"
    dates = " and ".join(sorted({run["date"][:10] for run in runs}))
    return "\n\n".join([
        f"TFLOP/s · share of {peak} TFLOP/s ({peak_name}) · speed relative to the vendor's, for square "
        "column-major NN:",
        table(["config"] + [str(size) for size in sizes], rows),
        f"{environment['device']['name']}, driver {environment['device']['driver']}, "
        f"{dates}; {vendor}; burst, median; {runs[0]['files']}."])


def predicted_speed(explanation):
    if not explanation or not explanation["predicted"]:
        return "-"
    p = explanation["problem"]
    return speed(2 * p["m"] * p["n"] * p["k"] / explanation["predicted"]["time_ms"] / 1e9)


def explained_rows(explanation):
    """What limits it where it fills a GPU, and how fast the model thinks that it is."""
    if not explanation:
        return {}
    if not explanation["predicted"]:  # its products are not replayed: the rates of its parts alone are known
        return {f"busiest part by its rate, at {LADDER_SIZE}": explanation["limited_by"]}
    return {f"limited by, at {LADDER_SIZE}": explanation["limited_by"],
            f"predicted TFLOP/s, at {LADDER_SIZE}": predicted_speed(explanation)}


def count_column(run):
    counts = run["counts"]
    is_matrix = counts["matrix"]["warp"] > 0
    multiplies = counts["matrix"]["warp"] if is_matrix else products(run) / 32
    column = {"launches": str(counts["launches"]),
              "PTX instructions": with_share(counts["total"]["warp"], multiplies),
              "matrix multiplies" if is_matrix else "FMAs":
              f"{counts['matrix' if is_matrix else 'fma']['warp']:,}"}
    column.update(access_rows(counts, multiplies))
    column["barriers"] = with_share(counts["bar"]["warp"], multiplies)
    if fmas_per_shared_load(run):
        column["useful FMAs per shared load"] = number(fmas_per_shared_load(run))
    if requested_intensity(run):
        column["FLOP per byte that loads request"] = number(requested_intensity(run))
    if counts.get("memory"):
        column.update(memory_rows(run, multiplies))
    column["tag of accesses and multiplies"] = counts["tag"]
    return column


def counts(results, kernel):
    runs = results.counts_of(kernel)
    if not runs:
        return NOTHING
    p = runs[0]["problem"]
    columns = [(r["config"], {**count_column(r),
                              **explained_rows(results.explanation_of(kernel, r["config"]))})
               for r in runs]
    unit = "matrix multiply" if runs[0]["counts"]["matrix"]["warp"] else "FMA that the product needs (MNK / 32)"
    words = [f"On the virtual GPU, {p['m']} x {p['n']} x {p['k']}, column-major {p['layout']}; issues "
             f"by warps, and in brackets per {unit}:",
             transposed("count", columns)]
    if any(r["counts"].get("memory") and is_wide(r) for r in runs):
        words.append("Wavefronts by the pair rule for wide loads; in brackets by the plain rule.")
    return "\n\n".join(words + ["From `results/ladder/ladder_counts.json`."])


def pairs_of_widths(entry):
    """Loads and stores in the PTX and in the cubin: {"LDS.32": "64 → 64"}."""
    order = ["LDG", "STG", "LDS", "STS", "LD", "ST", "LDL", "STL"]
    names = {n for side in ("ptx", "cubin") for n in entry[side] if n.split(".")[0] in order}
    ordered = sorted(names, key=lambda n: (order.index(n.split(".")[0]), int(n.split(".")[1])))
    return {f"{n}, PTX → cubin": f"{entry['ptx'].get(n, 0)} → {entry['cubin'].get(n, 0)}"
            for n in ordered}


def cubin_column(entry):
    column = {"registers per thread": str(entry["registers"]),
              "shared bytes per block": f"{entry['shared_bytes']:,}",
              "stack bytes per thread": str(entry["stack_bytes"]),
              "instructions": f"{entry['instructions']:,}"}
    column.update(pairs_of_widths(entry))
    loop = entry["main_loop"]
    if loop:
        share = percent(loop["multiplies"], loop["instructions"])
        column["main loop: multiplies of instructions"] = (
            f"{loop['multiplies']} of {loop['instructions']} ({share})")
        accesses = Counter()
        for name, count in loop["cubin"].items():
            accesses[name.split(".")[0]] += count
        column["main loop: LDS, STS, LDG"] = ", ".join(
            str(accesses[name]) for name in ("LDS", "STS", "LDG"))
    return column


def layouts_line(results, kernel, entries):
    """Registers of all layouts, where each has an entry of its own."""
    lines = []
    for entry in entries:
        layouts = results.entries_of(kernel, entry["config"])
        if len(layouts) > 1:
            cells = [f"{operand_mode(e)} {e['registers']} ({e['stack_bytes']})" for e in layouts]
            lines.append(f"{entry['config']}: " + ", ".join(cells))
    if not lines:
        return []
    return ["Registers (and stack bytes) of all layouts, `ak` = A contiguous along k: "
            + "; ".join(lines) + "."]


def cubin(results, kernel):
    entries = results.facts_of(kernel)
    if not entries:
        return NOTHING
    has_modes = operand_mode(entries[0]) != ""
    static = "Instructions in the code, " + (
        "in the entry for column-major NN" if has_modes else "one entry for all layouts")
    parts = [f"{static}; {results.facts['compiler']}, {results.facts['arch']}:",
             transposed("static", [(e["config"], cubin_column(e)) for e in entries])]
    parts += layouts_line(results, kernel, entries)
    return "\n\n".join(parts + ["From `results/ladder/ladder_cubin.json`."])


def patch(results, kernel):
    """What reordering made of the loop that multiplies, by row of the kernel."""
    entries = [e for e in results.facts["entries"] if e["kernel"] == kernel and e.get("patch")]
    if not entries:
        return "This build could not patch: the unpatched cubin runs."
    rows = []
    for entry in entries:
        loop, made = entry["main_loop"], entry["patch"]
        pair = lambda name, digits: " → ".join(f"{x:.{digits}f}" for x in made[name])
        rows.append([operand_mode(entry), f"{loop['multiplies']} of {loop['instructions']}",
                     str(made["moved"]), pair("bubbles", 0), pair("crowded_ffmas", 0),
                     pair("reads_per_ffma", 2)])
    header = ["row", "FFMAs of instructions", "places that changed", "bubbles", "crowded FFMAs",
              "reads per FFMA"]
    return "\n\n".join([table(header, rows), "From `results/ladder/ladder_cubin.json`."])
