#!/usr/bin/env python3
"""Writes the generated sections of the pages from committed files in results/.

A generated section stands between two lines, <!-- NAME begin --> and <!-- NAME end -->:

  measured  rung README   time on a GPU               results/h200_ladder_*.json
  counts    rung README   what ran, by count          results/ladder_counts.json
  cubin     rung README   what the compiler made      results/ladder_cubin.json
  ladder    any page      one row a rung, all of it   all of these, and two lines of each README
  gpu_check any page      what make gpu-test printed  results/h200_gpu_check.txt
  explain   any page      what explain 03 printed     results/explain_03.txt
  fp32      any page      FP32 beside the vendor's    results/h200_fp32*.json, by fp32_tables.py
  old_and_new  any page   two builds' code in one run results/h200_old_and_new*.json, by old_and_new.py
  fp32_short, fp64_short, docs/pictures/speed-*.svg   README's first screen, by front_picture.py
  observer_cost, sent_again    docs/counts.md         results/observer_cost.json, h200_ncu.json
  registers_*  docs/registers.md         results/h200_registers.json, h200_registers_fit.json
  registers_profile  docs/registers.md   results/h200_fp32_profile.json, by issue_profile.py

How the files are made (the first three on a GPU, the others anywhere):

  build/tessera bench --kernel all -m 1024,2048,4096 --json results/h200_ladder_4096.json
  build/tessera bench --kernel all -m 8192 --json results/h200_ladder_8192.json
  build/tessera bench --kernel all/all -m 4096 --mode burst --json results/h200_ladder_variants.json
  build/tessera bench --device virtual --kernel '0*/all,1*/all,2*/all' -m 512 -n 128 -k 256 \\
                      --json results/ladder_counts.json
  build/ladder_facts > results/ladder_cubin.json
  build/tessera explain 03 > results/explain_03.txt
  build/tessera explain '0*/all,1*/all,2*/all' -m 4096 --json results/ladder_explained.json
  build/observer_cost > results/observer_cost.json
  build/calibrate_registers --json results/h200_registers.json                   (on a GPU)
  build/fit_ports results/h200_registers.json > results/h200_registers_fit.json
  tools/calibrate/ncu_counts --out logs && tools/calibrate/compare_ncu.py logs                       (on a GPU)
  tools/ci/gpu_check --out logs && cp logs/summary.txt results/h200_gpu_check.txt    (on a GPU)

Then run tools/tables/update_tables.py. What a file does not hold reads "not measured yet"; nothing is
invented. Sections with other names are left alone. With --check nothing is written, and the exit
code is 1 when a page is stale; a test runs that. Python 3, standard library only.
"""
import argparse
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path

import count_tables
import fp32_tables
import front_picture
import model_tables
import old_and_new
import register_tables
import renamed
import results_files

# TFLOP/s of an H200. FFMA and DFMA: a loop of nothing else, measured (FFMA: whole_gpu of
# results/h200_registers.json); FP64 tensor core: data sheet.
PEAKS = {"f32": (66.5, "FFMA, measured"), "f64": (33.3, "DFMA, measured"),
         "matrix": (66.9, "FP64 tensor core, data sheet")}
RUNG_SECTIONS = ("cubin", "counts", "measured")
PATCHED_SECTIONS = ("patch", "measured")  # of a rung that is another one's machine code
LADDER_SIZE = 4096  # the square that the ladder's table shows
NOTHING = "not measured yet"


class Results:
    """The three files, or what of them exists."""

    def __init__(self, root):
        folder = root / "results"
        self.timed = merged(sorted(folder.glob("h200_ladder_*.json")))
        self.counted = load(folder / "ladder_counts.json", "runs")
        self.facts = load(folder / "ladder_cubin.json", "entries")
        self.explained = load(folder / "ladder_explained.json", "explained")

    def facts_of(self, kernel):
        """One entry a config: that of column-major NN, where operands' sides are compiled in; of
        several ways to fetch the first."""
        plain = {}
        for entry in self.facts["entries"]:
            if entry["kernel"] == kernel and sides_in(entry)[:5] in ("", "ak_bn"):
                plain.setdefault(entry["config"], entry)
        return list(plain.values())

    def sides_of(self, kernel, config):
        return [e for e in self.facts["entries"]
                if e["kernel"] == kernel and e["config"] == config]

    def counts_of(self, kernel):
        return [r for r in self.counted["runs"] if r["kernel"] == kernel and r.get("counts")]

    def times_of(self, kernel):
        return [r for r in self.timed["runs"] if r["kernel"] == kernel and is_plain_burst(r)]

    def explanation_of(self, kernel, config):
        """What explain says of it at LADDER_SIZE; None when it was not asked, or when what it
        counts is another kernel's."""
        return next((e for e in self.explained["explained"]
                     if (e["kernel"], e["config"]) == (kernel, config)
                     and not e.get("counted_as")
                     and e["problem"]["m"] == LADDER_SIZE), None)

    def peak_of(self, kernel):
        entries = self.facts_of(kernel)
        if any("DMMA" in e["cubin"] for e in entries):
            return PEAKS["matrix"]
        return PEAKS["f64" if any(e["type"] == "f64" for e in entries) else "f32"]


def sides_in(entry):
    """Contiguous sides and ways to fetch, "ak_bn" or "ak_bn_copy_tma"; "" where neither is fixed."""
    return re.search("(?:_(a[km]_b[kn](?:_copy|_tma)*))?$", entry["entry"])[1] or ""


def load(path, key):
    """The file, or one without rows where it does not exist."""
    if not path.exists():
        return {key: []}
    file = renamed.load(path)
    wanted = {"runs": "tessera.results/1", "entries": "tessera.cubin/1",
              "explained": "tessera.explain/1"}[key]
    if file.get("schema") != wanted:
        sys.exit(f"{path}: schema is {file.get('schema')}, but this tool reads {wanted}")
    if key == "runs":
        results_files.require_one_commit(file, path)
    return file


def merged(paths):
    """The runs of several files under the first one's environment; of equal runs the first."""
    files = [load(path, "runs") for path in paths]
    runs = {}
    for run in (run for file in files for run in file["runs"] if results_files.is_ours(run)):
        what = [run["kernel"], run["config"], run["problem"], run["mode"]]
        runs.setdefault(json.dumps(what), run)
    return {**(files[0] if files else {}), "runs": list(runs.values())}


def is_plain_burst(run):
    """Square, column-major NN, alpha 1, beta 0, timed in a burst."""
    p = run["problem"]
    square = p["m"] == p["n"] == p["k"]
    plain = p["layout"] == "NN" and p["order"].startswith("col") and p["alpha"] == 1
    return square and plain and p["beta"] == 0 and run["mode"] == "burst" and run["tflops"]


# Tables


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def number(value):
    """Three digits that count: 0.00391, 0.493, 5.81, 45.1, 812; whole numbers bare."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def speed(tflops):
    """Three digits: 0.500, 4.77, 47.0."""
    return f"{tflops:.{3 if tflops < 1 else 2 if tflops < 10 else 1}f}"


def percent(part, whole):
    return f"{100 * part / whole:.{0 if part / whole >= 0.1 else 1}f} %"


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
    environment = results.timed["environment"]
    vendor = environment["libraries"]["vendor"] or "no vendor library"
    return "\n\n".join([
        f"TFLOP/s · share of {peak} TFLOP/s ({peak_name}) · speed over the vendor's, for square "
        "column-major NN:",
        table(["config"] + [str(size) for size in sizes], rows),
        f"{environment['device']['name']}, driver {environment['device']['driver']}, "
        f"{environment['date'][:10]}; {vendor}; burst, median; `results/h200_ladder_*.json`."])


def access_rows(counts, fma):
    """One row for each kind and width of access: issues by warps, how many for each multiply."""
    rows = {}
    for kind in ("ld.global", "st.global", "ld.shared", "st.shared", "ld_st.generic"):
        for width, count in counts[kind].items():
            bits = width.removeprefix("b")
            name = {"ld_st.generic": "generic loads and stores"}.get(kind, f"`{kind}`")
            rows[f"{name}, {bits} bits"] = with_share(count["warp"], fma)
    return rows


def with_share(count, fma):
    return f"{count:,} ({number(count / fma)})" if count and fma else f"{count:,}"


def products(run):
    """MNK: the multiply-adds that the problem asks for."""
    return run["problem"]["m"] * run["problem"]["n"] * run["problem"]["k"]


def products_a_shared_load(run):
    """For each shared load of a lane; 0 where there are none or where tensor cores multiply."""
    loads = sum(count["thread"] for count in run["counts"]["ld.shared"].values())
    return products(run) / loads if loads and not run["counts"]["matrix"]["warp"] else 0


def requested_intensity(run):
    """FLOP for each byte that loads ask global memory for; 0 where generic loads hide it."""
    counts = run["counts"]
    read = sum(int(width[1:]) // 8 * count["thread"]
               for width, count in counts["ld.global"].items())
    return 2 * products(run) / read if read and not counts["ld_st.generic"] else 0


def sum_of(run, kinds, memory, *path):
    """A count of run["counts"]["memory"], over several kinds of traffic; 0 where there is none."""
    total = 0
    for kind in kinds:
        value = run["counts"]["memory"][kind].get(memory, {})
        for name in path:
            value = value.get(name, 0) if isinstance(value, dict) else 0
        total += value if not isinstance(value, dict) else 0
    return total


LOADS, STORES = ("loads", "copies_in"), ("stores", "atomics", "copies_out", "copies_reduce")
BANKS = "pair"  # the rule for wide shared loads that reports use; see src/lab/explain/resources.h


def ratio(part, whole):
    return part / whole if whole else 0


def sectors_a_request(run, kinds=LOADS + STORES):
    return ratio(sum_of(run, kinds, "global", "sectors"), sum_of(run, kinds, "global", "requests"))


def excess_wavefronts(run, kinds=LOADS + STORES):
    return sum_of(run, kinds, "shared", BANKS, "excess")


def load_store_wavefronts(run):
    """Of the load/store unit: wavefronts of shared memory, and of global memory in L1."""
    kinds = LOADS + STORES
    return (sum_of(run, kinds, "shared", BANKS, "wavefronts")
            + sum_of(run, kinds, "global", "data_wavefronts"))


def is_wide(run):
    """Whether the two bank rules differ for this kernel's loads."""
    return any(sum_of(run, kinds, "shared", "plain", "wavefronts")
               != sum_of(run, kinds, "shared", "pair", "wavefronts") for kinds in (LOADS, STORES))


def wavefronts(run, kinds):
    """Wavefronts a request, and in brackets those of the plain rule where it says otherwise."""
    requests = sum_of(run, kinds, "shared", "requests")
    pair, plain = (ratio(sum_of(run, kinds, "shared", rule, "wavefronts"), requests)
                   for rule in (BANKS, "plain"))
    return number(pair) if pair == plain else f"{number(pair)} ({number(plain)})"


def memory_rows(run, multiplies):
    """What the accesses cost, by count: sectors, lines, wavefronts, and FLOP for each byte."""
    rows = {}
    for name, kinds in (("loads", LOADS), ("stores", STORES)):
        requests = sum_of(run, kinds, "global", "requests")
        if requests:
            lines = ratio(sum_of(run, kinds, "global", "lines"), requests)
            rows[f"global {name}: sectors, lines a request"] = (
                f"{number(sectors_a_request(run, kinds))}, {number(lines)}")
    for name, kinds in (("loads", LOADS), ("stores", STORES)):
        if sum_of(run, kinds, "shared", "requests"):
            rows[f"shared {name}: wavefronts a request"] = wavefronts(run, kinds)
            rows[f"shared {name}: excess wavefronts"] = with_share(excess_wavefronts(run, kinds),
                                                                   multiplies)
    w = "" if run["counts"]["matrix"]["warp"] else " (w)"  # the READMEs' wavefronts for each FMA
    rows[f"wavefronts of the load/store unit{w}"] = with_share(load_store_wavefronts(run), multiplies)
    per = run["counts"]["flop_per_byte"]
    rows["FLOP a byte: requested, sectors, footprint"] = ", ".join(
        number(per[name]) for name in ("requested", "sector", "footprint"))
    return rows


def explained_rows(explanation):
    """What limits it where it fills a GPU, and how fast the model thinks that it is."""
    if not explanation:
        return {}
    return {f"limited by, at {LADDER_SIZE}": explanation["limited_by"],
            f"predicted TFLOP/s, at {LADDER_SIZE}": predicted_speed(explanation)}


def predicted_speed(explanation):
    if not explanation or not explanation["predicted"]:
        return "-"
    p = explanation["problem"]
    return speed(2 * p["m"] * p["n"] * p["k"] / explanation["predicted"]["time_ms"] / 1e9)


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
    if products_a_shared_load(run):
        column["products a shared load"] = number(products_a_shared_load(run))
    if requested_intensity(run):
        column["FLOP a byte that loads request"] = number(requested_intensity(run))
    if counts.get("memory"):
        column.update(memory_rows(run, multiplies))
    column["tag of accesses and multiplies"] = counts["tag"]
    return column


def transposed(first, columns):
    """A table with a column for each (name, {row: cell}), rows in order of first appearance."""
    names = []
    for _, cells in columns:  # keeps a row that only later columns have near its neighbours
        for at, name in enumerate(cells):
            if name not in names:
                before = [n for n in list(cells)[:at] if n in names]
                names.insert(names.index(before[-1]) + 1 if before else 0, name)
    rows = [[name] + [cells.get(name, "-") for _, cells in columns] for name in names]
    return table([first] + [name for name, _ in columns], rows)


def counts(results, kernel):
    runs = results.counts_of(kernel)
    if not runs:
        return NOTHING
    p = runs[0]["problem"]
    columns = [(r["config"], {**count_column(r),
                              **explained_rows(results.explanation_of(kernel, r["config"]))})
               for r in runs]
    unit = "matrix multiply" if runs[0]["counts"]["matrix"]["warp"] else "of the MNK / 32 FMAs"
    words = [f"On the virtual GPU, {p['m']} x {p['n']} x {p['k']}, column-major {p['layout']}; issues "
             f"by warps, and in brackets how many for each {unit}:",
             transposed("count", columns)]
    if any(r["counts"].get("memory") and is_wide(r) for r in runs):
        words.append("Wavefronts by the pair rule for wide loads; in brackets by the plain rule.")
    return "\n\n".join(words + ["From `results/ladder_counts.json`."])


def pairs_of_widths(entry):
    """Loads and stores as they stand in the PTX and in the cubin: {"LDS.32": "64 → 64"}."""
    order = ["LDG", "STG", "LDS", "STS", "LD", "ST", "LDL", "STL"]
    names = {n for side in ("ptx", "cubin") for n in entry[side] if n.split(".")[0] in order}
    ordered = sorted(names, key=lambda n: (order.index(n.split(".")[0]), int(n.split(".")[1])))
    return {f"{n}, PTX → cubin": f"{entry['ptx'].get(n, 0)} → {entry['cubin'].get(n, 0)}"
            for n in ordered}


def cubin_column(entry):
    column = {"registers a thread": str(entry["registers"]),
              "shared bytes a block": f"{entry['shared_bytes']:,}",
              "stack bytes a thread": str(entry["stack_bytes"]),
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
        sides = results.sides_of(kernel, entry["config"])
        if len(sides) > 1:
            cells = [f"{sides_in(s)} {s['registers']} ({s['stack_bytes']})" for s in sides]
            lines.append(f"{entry['config']}: " + ", ".join(cells))
    if not lines:
        return []
    return ["Registers (and stack bytes) of all layouts, `ak` = A contiguous along k: "
            + "; ".join(lines) + "."]


def cubin(results, kernel):
    entries = results.facts_of(kernel)
    if not entries:
        return NOTHING
    has_sides = len(results.sides_of(kernel, entries[0]["config"])) > 1
    static = "Instructions as they stand in the code, " + (
        "in the entry for column-major NN" if has_sides else "one entry for all layouts")
    parts = [f"{static}; {results.facts['compiler']}, {results.facts['arch']}:",
             transposed("static", [(e["config"], cubin_column(e)) for e in entries])]
    parts += layouts_line(results, kernel, entries)
    return "\n\n".join(parts + ["From `results/ladder_cubin.json`."])


def patch(results, kernel):
    """What reordering made of the loop that multiplies, by row of the kernel."""
    entries = [e for e in results.facts["entries"] if e["kernel"] == kernel and e.get("patch")]
    if not entries:
        return "This build could not patch: the unpatched cubin runs."
    rows = []
    for entry in entries:
        loop, made = entry["main_loop"], entry["patch"]
        pair = lambda name, digits: " → ".join(f"{x:.{digits}f}" for x in made[name])
        rows.append([sides_in(entry), f"{loop['multiplies']} of {loop['instructions']}",
                     str(made["moved"]), pair("bubbles", 0), pair("crowded_ffmas", 0),
                     pair("reads_per_ffma", 2)])
    header = ["row", "FFMAs of instructions", "places that changed", "bubbles", "crowded FFMAs",
              "reads an FFMA"]
    return "\n\n".join([table(header, rows), "From `results/ladder_cubin.json`."])


def read_intensity(entry):
    """FLOP for each byte read, nothing cached: words read are 2MNK, or MNK (1/bm + 1/bn)."""
    size = {"f32": 4, "f64": 8}[entry["type"]]
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
    """Sectors a request, excess wavefronts for each product of a warp, products a shared load."""
    per_load = products_a_shared_load(run)
    if not run["counts"].get("memory"):
        return ["-", "-", number(per_load) if per_load else "-"]
    uses_shared = sum_of(run, LOADS, "shared", "requests")
    excess = ratio(excess_wavefronts(run), products(run) / 32)
    return [number(sectors_a_request(run)), number(excess) if uses_shared else "-",
            number(per_load) if per_load else "-"]


def ladder(results, page, folders):
    header = ["rung", "idea", "limited by", "predicted TFLOP/s", f"TFLOP/s at {LADDER_SIZE}",
              "of peak", "ratio to vendor", "FLOP/byte", "sectors/request", "excess wavefronts",
              "FMA:LDS"]
    groups = {"f32": [], "f64": []}
    for folder in folders:
        entries = results.facts_of(folder.name)
        if entries:
            groups[entries[0]["type"]].append(ladder_row(results, page, folder, entries))
    if not any(groups.values()):
        return NOTHING
    parts = [f"**{name}**\n\n{table(header, groups[key])}"
             for key, name in (("f32", "FP32 on CUDA cores"), ("f64", "FP64")) if groups[key]]
    return "\n\n".join(parts + [legend(results)])


def legend(results):
    models = {e["predicted"]["model"] for e in results.explained["explained"] if e["predicted"]}
    words = [f"*Limited by* and *predicted*: what `tessera explain` says at {LADDER_SIZE} of an H200, "
             "from counts on the virtual GPU and the machine code alone"
             + (f" (model: {'; '.join(sorted(models))})." if models else "."),
             f"*Of peak*: of {PEAKS['f32'][0]} (FFMA), {PEAKS['f64'][0]} (DFMA) or, in 24, "
             f"{PEAKS['matrix'][0]} TFLOP/s (FP64 tensor core).",
             "*FLOP/byte*: by formula, reads alone, nothing cached.",
             "*Sectors/request* of global memory, *excess wavefronts* of shared memory for each FMA "
             "of a warp, *FMA:LDS*, products for each shared load of a lane: counted on the virtual "
             "GPU."]
    if not results.timed["runs"]:
        words.append("Times: " + NOTHING + ".")
    else:
        environment = results.timed["environment"]
        words.append(f"Times: {environment['device']['name']}, {environment['date'][:10]}, square "
                     "column-major NN, burst; `results/h200_ladder_*.json`.")
    return " ".join(words)


def printed(root, name):
    """What a program printed, as it stands."""
    path = root / "results" / name
    return f"```\n{path.read_text().strip()}\n```" if path.exists() else NOTHING


# Pages


def replace_section(text, name, body):
    """Puts body between the markers of the section; None when the page has no such section."""
    pattern = re.compile(rf"(?ms)^<!-- {name} begin -->\n.*?^<!-- {name} end -->$")
    if not pattern.search(text):
        return None
    return pattern.sub(lambda _: f"<!-- {name} begin -->\n{body}\n<!-- {name} end -->", text)


def updated_pages(root):
    """Yields (path, text, wanted text) of each page that has generated sections."""
    results = Results(root)
    makers = {"cubin": cubin, "counts": counts, "measured": measured, "patch": patch}
    folders = sorted({path.parent for name in ("kernel.cu", "config.h")
                      for path in root.glob(f"src/ladder/*/{name}")})
    for folder in folders:
        page = folder / "README.md"
        if not page.exists():
            sys.exit(f"{page}: a rung without a README")
        text = wanted = page.read_text()
        is_patched = not (folder / "kernel.cu").exists()
        for name in PATCHED_SECTIONS if is_patched else RUNG_SECTIONS:
            wanted = replace_section(wanted, name, makers[name](results, folder.name))
            if wanted is None:
                sys.exit(f"{page}: no section <!-- {name} begin --> ... <!-- {name} end -->")
        yield page, text, wanted
    ladder_runs = [run for run in results.timed["runs"] if is_plain_burst(run)]
    portable_runs = [run for run in load(root / "results/h200_portable.json", "runs")["runs"]
                     if is_plain_burst(run)]
    for page in [root / "README.md", *sorted(root.glob("docs/*.md"))]:
        text = wanted = page.read_text() if page.exists() else ""
        wanted = replace_section(wanted, "ladder", ladder(results, page, folders)) or wanted
        for name, file in (("gpu_check", "h200_gpu_check.txt"), ("explain", "explain_03.txt")):
            wanted = replace_section(wanted, name, printed(root, file)) or wanted
        generated = {**model_tables.sections(root), **count_tables.sections(root),
                     **fp32_tables.sections(root), **register_tables.sections(root),
                     **old_and_new.sections(root),
                     "fp64_short": front_picture.fp64_rows(ladder_runs + portable_runs)}
        for name, body in generated.items():
            wanted = replace_section(wanted, name, body) or wanted
        yield page, text, wanted
    if (root / "README.md").exists():
        for path, wanted in front_picture.pictures(root, ladder_runs):
            yield path, path.read_text() if path.exists() else "", wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a page is stale")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2],
                        help="the repository (default: the one this tool stands in)")
    options = parser.parse_args()
    stale = [(page, wanted) for page, text, wanted in updated_pages(options.root) if text != wanted]
    for page, wanted in stale:
        name = page.relative_to(options.root)
        if options.check:
            print(f"{name} is out of date: run tools/tables/update_tables.py")
        else:
            page.parent.mkdir(exist_ok=True)
            page.write_text(wanted)
            print(f"{name} updated")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
