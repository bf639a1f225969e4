"""The drawn suite: how our library does on problems that nobody tuned for, in docs/reports/drawn-suite.md.

  drawn          the newest report: means, shares of losses, by class, type and stride, the worst cells
  drawn_scatter  the quick protocol beside the full one, on cells timed both ways
  drawn_sweep    regret and coverage, from a sweep of all configs
  drawn_costs    plans by a GPU's own table of costs, in turn with those by another's: results/drawn/costs/*.json.xz
  docs/pictures/drawn-light.svg, docs/pictures/drawn-dark.svg   the means by class and type

A report is results/drawn/*.json, written by `tessera bench --suite drawn --json FILE`; a sweep is
results/drawn/sweep/*.json, written with --sweep. The newest by date of each kind is shown.
"""
import json
import lzma
import math
from html import escape

from cells import NOTHING, table
from front_picture import THEMES
from results_files import megabytes

SCHEMA, SWEEP, TWO_TABLES = "tessera.suite/1", "tessera.sweep/1", "tessera.two_tables/1"
CLASSES = {
    "square": "squares", "layer": "transformer layers", "attention": "attention, vocabulary",
    "update": "factorisation updates", "convolution": "convolutions", "slender": "thin, wide, long k",
    "batch": "batches, shared, pointers", "epilogue": "bias and activation"}
TYPES = {"bf16": "BF16", "f16": "FP16", "tf32": "TF32", "f32": "FP32", "f64": "FP64"}
STRIDES = {"16": "multiples of 16", "even": "of 2, 4 or 8", "padded": "padded", "odd": "odd"}
WORST = 10


def read(path):
    return json.loads(lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_text())


def load_all(root, folder, schema):
    """The files of the schema, compressed ones too, the oldest first."""
    paths = sorted([*(root / folder).glob("*.json"), *(root / folder).glob("*.json.xz")])
    files = [{**read(path), "name": str(path.relative_to(root))} for path in paths]
    return sorted((f for f in files if f.get("schema") == schema), key=lambda f: f["environment"]["date"])


def load(root, folder, schema):
    """The newest file of the schema and of the drawn suite, of one day that with most cells; None without one."""
    files = [f for f in load_all(root, folder, schema) if f["environment"]["suite"].get("name", "drawn") == "drawn"]
    return max(files, key=lambda f: (f["environment"]["date"][:10], f["environment"]["suite"].get("cells", 0),
                                     f["environment"]["date"]), default=None)


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def percentile(values, share):
    """Interpolated linearly, as the lab does."""
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def type_of(cell):
    return cell["problem"]["type"]


def timed(cells):
    return [cell for cell in cells if cell.get("ratio_to_vendor")]


def ratios_of(cells):
    return [cell["ratio_to_vendor"] for cell in timed(cells)]


def best_ratio(cell):
    """With as much workspace as the plan likes."""
    return cell.get("without_limit", {}).get("ratio_to_vendor") or cell["ratio_to_vendor"]


def is_decode(cell):
    return cell["class"] == "layer" and cell["tokens"] <= 128


def rows_are_whole(cell):
    return cell["stride"] in ("16", "padded")


GROUPS = [
    ("all", lambda cell: True),
    ("all without odd strides", lambda cell: cell["stride"] != "odd"),
    ("BF16 and FP16, rows at multiples of 16",
     lambda cell: type_of(cell) in ("bf16", "f16") and rows_are_whole(cell)),
    ("FP32", lambda cell: type_of(cell) == "f32"),
    ("TF32", lambda cell: type_of(cell) == "tf32"),
    ("FP64", lambda cell: type_of(cell) == "f64"),
    ("batches, shared operands, pointers", lambda cell: cell["class"] == "batch"),
    ("decode, 1 to 128 tokens", is_decode),
]


def share(part, whole):
    return f"{100 * part / whole:.1f} %"


def group_row(name, cells):
    ratios = ratios_of(cells)
    if not ratios:
        return [name, "0"] + ["-"] * 6
    below = lambda limit: share(sum(r < limit for r in ratios), len(ratios))
    return [name, str(len(ratios)), f"**{geometric_mean(ratios):.3f}**",
            f"{geometric_mean([best_ratio(c) for c in timed(cells)]):.3f}",
            f"{percentile(ratios, 0.05):.2f}-{percentile(ratios, 0.95):.2f}",
            below(0.95), below(0.85), f"{min(ratios):.2f}"]


HEADER = ["cells", "number", "x vendor", "any workspace", "5-95 %", "below 0.95", "below 0.85", "lowest"]


def shape_words(cell):
    p = cell["problem"]
    words = f"{p['m']} x {p['n']} x {p['k']} {p['layout']}"
    if p["order"] == "row":
        words += " row-major"
    if "batch" in p:
        words = f"{p['batch']['count']} x ({words})"
    rows = "/".join(str(p[ld]) for ld in ("lda", "ldb", "ldd"))
    return f"{words}, rows {rows}"


def worst_rows(cells):
    worst = sorted(timed(cells), key=lambda c: c["ratio_to_vendor"])[:WORST]
    order = list(CLASSES)
    worst.sort(key=lambda c: (order.index(c["class"]), c["ratio_to_vendor"]))
    return [[CLASSES[c["class"]], TYPES[type_of(c)], shape_words(c), c.get("from", "-"),
             f"{c['ratio_to_vendor']:.2f}", f"`{c['kernel']}`", c["vendor"]["name"]] for c in worst]


def source_words(file):
    environment = file["environment"]
    suite = environment["suite"]
    return (f"{environment['device']['name']}, {environment['date'][:10]}, "
            f"{environment['libraries']['vendor']}, seed {suite['seed']}, commit {environment['commit']}, "
            f"`{file['name']}`")


def notes(file):
    cells = file["cells"]
    asked = file["environment"]["suite"]["cells"]
    quick = [c for c in timed(cells) if c["protocol"] == "quick"]
    losses = sum(c["ratio_to_vendor"] < 0.97 for c in quick)
    again = len(timed(cells)) - len(quick)
    bare = sum("without the epilogue" in c["vendor"]["name"] for c in timed(cells))
    missing = [c for c in cells if not c.get("ratio_to_vendor")]
    text = (f"{source_words(file)}. {len(cells)} of {asked} cells. Ours within 64 MiB of workspace, as the "
            f"vendor's library; *any workspace*: without that limit. Quick protocol; {again} cells timed again "
            f"by the full one.")
    amounts = sorted(c["without_limit"]["workspace_bytes"] for c in timed(cells) if "without_limit" in c)
    if amounts:
        text += (f" Without the limit {len(amounts)} plans are others; they take {megabytes(amounts[len(amounts) // 2])} "
                 f"in the median and at most {megabytes(amounts[-1])}.")
    if losses:
        text += f" {losses} cells below 0.97 were not timed again before the time ended; their quick figure counts."
    if bare:
        text += (f" The vendor's library has no call for the epilogue of {bare} cells: there ours has it, "
                 "and the vendor's product does without.")
    if missing:
        reasons = sorted({c.get("reason", "no baseline") for c in missing})
        text += f" {len(missing)} cells have no ratio: {'; '.join(reasons[:3])}."
    return text


def groups(cells):
    return table(HEADER, [group_row(name, list(filter(test, cells))) for name, test in GROUPS])


def body(file):
    if file is None:
        return NOTHING
    cells = file["cells"]
    parts = [groups(cells)]
    for title, names, key in (("class", CLASSES, lambda c: c["class"]), ("type", TYPES, type_of),
                              ("rows", STRIDES, lambda c: c["stride"])):
        rows = [group_row(words, [c for c in cells if key(c) == name]) for name, words in names.items()]
        parts.append(table([title] + HEADER[1:], rows))
    parts.append("The ten cells that lose most:\n\n" +
                 table(["class", "type", "m x n x k", "of", "x vendor", "kernel", "vendor's call"],
                       worst_rows(cells)))
    return "\n\n".join(parts + [notes(file)])


def scatter(file):
    """Quick over full, of cells that were timed both ways whatever their ratio."""
    cells = [c for c in (file or {}).get("cells", []) if c.get("both_ways") and "vendor_ms" in c["quick"]]
    if len(cells) < 2:
        return NOTHING
    logs = [math.log(c["quick"]["ratio_to_vendor"] / c["ratio_to_vendor"]) for c in cells]
    mean = sum(logs) / len(logs)
    deviation = math.sqrt(sum((x - mean) ** 2 for x in logs) / (len(logs) - 1))
    ratios = [math.exp(x) for x in logs]
    rows = [["quick ratio over full ratio", str(len(cells)), f"{math.exp(mean):.3f}",
             f"{100 * deviation:.1f} %", f"{percentile(ratios, 0.05):.3f}-{percentile(ratios, 0.95):.3f}",
             f"{min(ratios):.3f}-{max(ratios):.3f}"]]
    for name, key in (("quick time over full time, ours", "time_ms"), ("the same, the vendor's", "vendor_ms")):
        full = [c["time_ms"]["median"] if key == "time_ms" else c["vendor"]["time_ms"]["median"] for c in cells]
        times = [c["quick"][key] / ms for c, ms in zip(cells, full)]
        spread = [math.log(t) for t in times]
        middle = sum(spread) / len(spread)
        off = math.sqrt(sum((x - middle) ** 2 for x in spread) / (len(spread) - 1))
        rows.append([name, str(len(cells)), f"{math.exp(middle):.3f}", f"{100 * off:.1f} %",
                     f"{percentile(times, 0.05):.3f}-{percentile(times, 0.95):.3f}",
                     f"{min(times):.3f}-{max(times):.3f}"])
    return table(["", "cells", "mean", "deviation", "5-95 %", "range"], rows) + f"\n\n{source_words(file)}."


def config_ms(config):
    """A config is [kernel, decision, workspace, expected us, times or why there are none]."""
    return None if isinstance(config[4], str) else config[4][0]


def regret_of(cell):
    """Time of the choice over that of the best config, and the best config over the vendor."""
    times = [config_ms(c) for c in cell["configs"]]
    if not times or times[0] is None:
        return None
    best = min(t for t in times if t is not None)
    vendor = cell.get("vendor", {}).get("ms")
    return {"regret": times[0] / best, "coverage": vendor[0] / best if vendor else None,
            "best": cell["configs"][times.index(best)][0]}


def sweep_row(name, cells):
    found = [f for f in map(regret_of, cells) if f]
    regrets = [f["regret"] for f in found]
    coverage = [f["coverage"] for f in found if f["coverage"]]
    if not regrets:
        return [name, "0"] + ["-"] * 6
    return [name, str(len(regrets)), f"{geometric_mean(regrets):.3f}", f"{percentile(regrets, 0.95):.3f}",
            f"{max(regrets):.2f}", f"{geometric_mean(coverage):.3f}" if coverage else "-",
            share(sum(c < 0.95 for c in coverage), len(coverage)) if coverage else "-",
            f"{min(coverage):.2f}" if coverage else "-"]


def sweep_body(file):
    if file is None:
        return NOTHING
    cells = file["cells"]
    rows = [sweep_row("all", cells)]
    rows += [sweep_row(words, [c for c in cells if c["class"] == name]) for name, words in CLASSES.items()]
    rows += [sweep_row(words, [c for c in cells if type_of(c) == name]) for name, words in TYPES.items()]
    configs = sum(len(c["configs"]) for c in cells)
    wrong = sum(config_ms(config) is None for c in cells for config in c["configs"])
    worst = sorted((c for c in cells if regret_of(c)), key=lambda c: -regret_of(c)["regret"])[:WORST]
    header = ["cells", "number", "regret", "95th percentile", "largest", "coverage", "below 0.95", "lowest"]
    text = table(header, rows) + "\n\nWhere the choice costs most:\n\n" + table(
        ["class", "type", "m x n x k", "regret", "taken", "best"],
        [[CLASSES[c["class"]], TYPES[type_of(c)], shape_words(c), f"{regret_of(c)['regret']:.2f}",
          f"`{c['configs'][0][0]}`", f"`{regret_of(c)['best']}`"] for c in worst])
    return text + (f"\n\n*regret*: time of the plan's choice over that of the best config; *coverage*: the best config's "
                   f"speed over the vendor's. {configs} configs of {len(cells)} cells: {file['environment']['suite']['protocol']}"
                   f"{f'; {wrong} without a time' if wrong else ''}. {source_words(file)}.")


def costs_row(file):
    """Of cells that both tables plan alike the ratio is 1: nothing is timed."""
    cells = [c for c in file["cells"] if "reason" not in c]
    ratios = [c["ratio_to_other"] for c in cells if "ratio_to_other" in c]
    low = sum(r < 0.98 for r in ratios)
    return [f"{file['environment']['suite']['name']}, seed {file['environment']['suite']['seed']}", str(len(cells)),
            str(len(ratios)), f"{geometric_mean(ratios + [1.0] * (len(cells) - len(ratios))):.4f}",
            f"{geometric_mean(ratios):.3f}" if ratios else "-", str(low), f"{min(ratios, default=1):.2f}"]


def costs_body(files):
    if not files:
        return NOTHING
    head = ["suite", "cells", "other plans", "speed, all", "of other plans", "below 0.98", "lowest"]
    return table(head, list(map(costs_row, files))) + "\n\n" + (
        "Speed of the plan by the GPU's own table over that of the plan by the other one, in turn. " +
        " ".join(f"{source_words(f)}." for f in files))


def colour_of(ratio, theme):
    """Red below 1, green above, pale at 1; saturated at 0.7 and 1.4."""
    towards = max(-1.0, min(1.0, math.log(ratio) / math.log(1.4)))
    light = theme == "light"
    middle = (238, 240, 242) if light else (45, 51, 59)
    end = ((206, 66, 58) if light else (190, 62, 56)) if towards < 0 else ((35, 140, 105) if light else (36, 130, 98))
    mixed = [round(m + (e - m) * abs(towards)) for m, e in zip(middle, end)]
    return "#" + "".join(f"{value:02x}" for value in mixed)


def picture(file, theme):
    """A row a class, a column a type; the mean and how many cells it is of."""
    colours = THEMES[theme]
    left, top, wide, high = 210, 84, 130, 38
    parts = []

    def text(x, y, words, size=12, colour="text", anchor="middle", bold=False):
        weight = ' font-weight="600"' if bold else ""
        parts.append(f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}"{weight} '
                     f'fill="{colours[colour]}">{escape(words)}</text>')

    def cell(x, y, cells):
        ratios = ratios_of(cells)
        mean = geometric_mean(ratios)
        fill = colour_of(mean, theme) if mean else "none"
        parts.append(f'<rect x="{x}" y="{y}" width="{wide - 4}" height="{high - 4}" rx="3" fill="{fill}"/>')
        text(x + wide / 2 - 2, y + 17, f"{mean:.2f}" if mean else "-", 13, bold=True)
        text(x + wide / 2 - 2, y + 30, f"{len(ratios)}" if ratios else "", 9.5)

    text(20, 30, "Speed over the vendor's library on drawn problems, geometric means", 16, anchor="start", bold=True)
    columns = [*TYPES.items(), (None, "all")]
    rows = [*CLASSES.items(), (None, "all")]
    for i, (_, words) in enumerate(columns):
        text(left + wide * i + wide / 2, top - 12, words, 12, "quiet")
    for j, (kind, words) in enumerate(rows):
        y = top + high * j
        text(left - 12, y + 22, words, 12, "quiet", "end")
        for i, (name, _) in enumerate(columns):
            cell(left + wide * i, y, [c for c in file["cells"] if kind in (None, c["class"])
                                      and name in (None, type_of(c))])
    width, height = left + wide * len(columns) + 20, top + high * len(rows) + 44
    text(20, height - 14, source_words(file).replace("`", ""), 11, "quiet", "start")
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, '
        'sans-serif" role="img" aria-label="Speed over the vendor\'s library by class and type">',
        *parts, "</svg>", ""])


def reports_body(files):
    """The means of each whole report, one column for each."""
    if not files:
        return "No report of 1000 cells is stored yet."
    header = ["cells"] + [f"{f['environment']['date'][:10]}, `{f['environment']['commit'][:8]}`" for f in files]
    rows = []
    for name, is_in in GROUPS:
        means = [geometric_mean(ratios_of([c for c in f["cells"] if is_in(c)])) for f in files]
        rows.append([name] + [f"{mean:.3f}" if mean else "-" for mean in means])
    for limit in (0.95, 0.85):
        rows.append([f"below {limit}"] + [share(sum(r < limit for r in ratios_of(f["cells"])), len(timed(f["cells"])))
                                          for f in files])
    return table(header, rows) + "\n\n" + " ".join(f"{source_words(f)}." for f in files)


def both_ways(root):
    """The newest report that has cells timed both ways."""
    files = [json.loads(p.read_text()) | {"name": str(p.relative_to(root))}
             for p in sorted((root / "results/drawn").glob("*.json"))]
    files = [f for f in files if any(c.get("both_ways") for c in f.get("cells", []))]
    return max(files, key=lambda f: f["environment"]["date"], default=None)


def sections(root):
    report = load(root, "results/drawn", SCHEMA)
    whole = [f for f in load_all(root, "results/drawn", SCHEMA) if len(f["cells"]) >= 1000]
    return {"drawn": body(report), "drawn_reports": reports_body(whole), "drawn_scatter": scatter(both_ways(root)),
            "drawn_sweep": sweep_body(load(root, "results/drawn/sweep", SWEEP)),
            "drawn_costs": costs_body(load_all(root, "results/drawn/costs", TWO_TABLES))}


def pictures(root):
    report = load(root, "results/drawn", SCHEMA)
    for theme in THEMES if report else ():
        yield root / f"docs/pictures/drawn-{theme}.svg", picture(report, theme)
