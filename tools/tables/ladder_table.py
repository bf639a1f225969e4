"""The table of the whole ladder: one row per rung, from the result files of the ladder."""
import os
from statistics import median

from cells import NOTHING, number, percent, ratio, table
from ladder_results import LADDER_SIZE, PEAKS, is_plain_burst
from rung_tables import predicted_speed, time_cell
from run_counts import (SHARED_LOADS, excess_wavefronts, products, fmas_per_shared_load,
                        sectors_a_request, sum_of)


# By the types of their rungs. Those in BF16 have a table of their own (tensor_ladder.py).
GROUPS = {("f32", "f16x3"): "FP32 on CUDA cores; 47 on tensor cores", ("f64",): "FP64"}


def read_intensity(entry):
    """FLOP per byte read, nothing cached: words read are 2MNK, or MNK (1/bm + 1/bn)."""
    size = {"bf16": 2, "f32": 4, "f64": 8, "f16x3": 4}[entry["type"]]
    m, n, _ = entry["block"]
    words = 1 / m + 1 / n if entry["shared_bytes"] else 2
    return number(2 / (words * size))


def ladder_row(results, page, folder, entries):
    entry, kernel = entries[0], folder.name
    explanation = results.explanation_of(kernel, entry["config"])
    link = os.path.relpath(folder / "README.md", page.parent)
    peak, _ = results.peak_of(kernel)
    runs = [r for r in results.times_of(kernel)
            if r["config"] == entry["config"] and r["problem"]["m"] == LADDER_SIZE]
    cells = time_cell(runs[0], peak).split(" · ") if runs else []
    counted = [r for r in results.counts_of(kernel) if r["config"] == entry["config"]]
    return [f"[{kernel[:2]}]({link})", entry["idea"],
            explanation["limited_by"] if explanation else "-", predicted_speed(explanation),
            *(cells + ["-"] * 3)[:3], read_intensity(entry),
            *(ladder_counts(counted[0]) if counted else ["-"] * 3)]


def ladder_counts(run):
    """Sectors per request, excess wavefronts per product of a warp, FMAs per shared load."""
    per_load = fmas_per_shared_load(run)
    if not run["counts"].get("memory"):
        return ["-", "-", number(per_load) if per_load else "-"]
    uses_shared = sum_of(run, SHARED_LOADS, "shared", "requests")
    excess = ratio(excess_wavefronts(run), products(run) / 32)
    return [number(sectors_a_request(run)), number(excess) if uses_shared else "-",
            number(per_load) if per_load else "-"]


def ladder(results, page, folders):
    header = ["rung", "idea", "limited by", "predicted TFLOP/s", f"TFLOP/s at {LADDER_SIZE}",
              "of peak", "ratio to vendor", "FLOP/byte", "sectors/request", "excess wavefronts",
              "FMA:LDS"]
    groups = {types: [] for types in GROUPS}
    for folder in folders:
        entries = results.facts_of(folder.name)
        for types in GROUPS:
            if entries and entries[0]["type"] in types:
                groups[types].append(ladder_row(results, page, folder, entries))
    if not any(groups.values()):
        return NOTHING
    errors = prediction_errors(results)
    parts = [f"**{GROUPS[types]}**\n\n{table(header, rows)}" for types, rows in groups.items() if rows]
    return "\n\n".join(parts + [legend(results, errors)])


def prediction_errors(results):
    """How far the predictions of this table are from its times, by rung: predicted / measured - 1."""
    errors = {}
    for run in results.timed["runs"]:
        explanation = results.explanation_of(run["kernel"], run["config"])
        predicted = explanation and explanation["predicted"]
        facts = results.facts_of(run["kernel"])
        # The library's kernels are not in this table.
        is_shown = (is_plain_burst(run) and run["problem"]["m"] == LADDER_SIZE
                    and facts and any(facts[0]["type"] in types for types in GROUPS))
        if predicted and is_shown and run["config"] == facts[0]["config"]:
            errors[run["kernel"][:2]] = predicted["time_ms"] / run["time_ms"]["median"] - 1
    return errors


def error_words(errors):
    if not errors:
        return ""
    worst = max(errors, key=lambda rung: abs(errors[rung]))
    middle = median(abs(error) for error in errors.values())
    return (f" In this table the predicted time is off by {percent(middle, 1)} at the median, and "
            f"by {percent(abs(errors[worst]), 1)} in {worst}.")


def legend(results, errors):
    models = {e["predicted"]["model"] for e in results.explained["explained"] if e["predicted"]}
    words = [f"*Limited by* and *predicted*: what `tessera explain` says at {LADDER_SIZE} of an H200, "
             "from counts on the virtual GPU and the machine code alone"
             + (f" (model: {'; '.join(sorted(models))})." if models else ".") + error_words(errors),
             f"*Of peak*: of {PEAKS['f32'][0]} (FFMA), {PEAKS['f64'][0]} (DFMA), in 24 "
             f"{PEAKS['matrix'][0]} (FP64 tensor core) or, in 47, {PEAKS['f16x3'][0]} TFLOP/s "
             f"({PEAKS['f16x3'][1]}).",
             "*FLOP/byte*: by formula, reads alone, nothing cached.",
             "Counted on the virtual GPU at 512 x 128 x 256: *sectors/request* of global memory, "
             "*excess wavefronts* of shared memory per FMA of a warp, and *FMA:LDS*, the useful FMAs "
             "per shared load of a lane."]
    return " ".join(words + [times_words(results)])


def times_words(results):
    """From which cards, days and files the times are."""
    if not results.timed["runs"]:
        return f"Times: {NOTHING}."
    environment = results.timed["environment"]
    other = {f"in {run['kernel'][:2]} {run['environment']['device']['name']}, {run['date'][:10]}, {run['files']}": None
             for run in results.timed["runs"] if run["kernel"][:2].isdigit() and is_plain_burst(run)
             and run["environment"]["device"]["name"] != environment["device"]["name"]}
    return "; ".join([f"Times: {environment['device']['name']}, {environment['date'][:10]}, square column-major NN, "
                      f"burst; {results.timed['runs'][0]['files']}", *other]) + "."
