"""The rungs on tensor cores, step by step: one table and one picture, in docs/tensor-ladder.md.

  docs/pictures/tensor-ladder-light.svg, docs/pictures/tensor-ladder-dark.svg   one bar a rung, what its
         page predicted as a mark, and the vendor's speed as a line
"""
import os
import re

from cells import NOTHING, number, percent, speed, table
from front_picture import HEIGHT, THEMES, WIDTH, Panel
from ladder_results import LADDER_SIZE, PEAKS
from ladder_table import read_intensity

LARGER_SIZE = 8192
PICTURE = """<picture>
  <source media="(prefers-color-scheme: dark)" srcset="pictures/tensor-ladder-dark.svg">
  <img src="pictures/tensor-ladder-light.svg" alt="TFLOP/s of each rung beside cuBLAS">
</picture>"""
LIBRARY = "wgmma_bf16"  # its choice of a config stands below the rungs


def is_of_tensor_cores(results, folder):
    entries = results.facts_of(folder.name)
    return bool(entries) and entries[0]["type"] == "bf16"


def predicted(folder):
    """The figure at LADDER_SIZE that the rung's page predicted; None where it says none."""
    text = (folder / "README.md").read_text().replace("\n", " ")
    found = re.search(r"\*\*Predicted:\*\* at most [\d,]+ TFLOP/s \([^)]*\), and ([\d,]+) at 4096", text)
    return float(found[1].replace(",", "")) if found else None


def run_at(results, kernel, size, config=None):
    """The run of a config; without one, the kernel's fastest."""
    runs = [r for r in results.times_of(kernel)
            if r["problem"]["m"] == size and config in (None, r["config"])]
    return max(runs, key=lambda r: r["tflops"], default=None)


def measured_cells(run):
    ratio = run and run["ratio_to_vendor"]
    return [speed(run["tflops"]) if run else "-", f"{ratio:.2f}" if ratio else "-"]


def joules(results, kernel, config):
    """Joules per TFLOP at the power cap, at LARGER_SIZE; "-" where none were measured."""
    used = [run["energy"]["joules_per_tflop"] for run in results.timed["runs"]
            if run.get("energy") and run["mode"] == "sustained" and run["kernel"] == kernel
            and run["config"] == config and run["problem"]["m"] == LARGER_SIZE]
    return f"{used[0]:.2f}" if used else "-"


def row_of(results, page, folder, entry, before):
    run = run_at(results, folder.name, LADDER_SIZE, entry["config"])
    link = os.path.relpath(folder / "README.md", page.parent)
    guess = predicted(folder)
    at_4096 = measured_cells(run)
    return [f"[{folder.name[:2]}]({link})", entry["idea"], entry["config"], read_intensity(entry),
            str(entry["registers"]), number(guess) if guess else "-", at_4096[0],
            f"{run['tflops'] / before:.2f} x" if run and before else "-",
            percent(run["tflops"], PEAKS["bf16"][0]) if run else "-", at_4096[1],
            *measured_cells(run_at(results, folder.name, LARGER_SIZE, entry["config"])),
            joules(results, folder.name, entry["config"])]


def library_row(results):
    runs = [run_at(results, LIBRARY, size) for size in (LADDER_SIZE, LARGER_SIZE)]
    if not all(runs):
        return []
    peak = percent(runs[0]["tflops"], PEAKS["bf16"][0])
    at_4096 = measured_cells(runs[0])
    return [["", "the library's own kernel", runs[0]["config"], "-", "-", "-", at_4096[0], "-", peak,
             at_4096[1], *measured_cells(runs[1]), joules(results, LIBRARY, runs[1]["config"])]]


def table_of(results, page, folders):
    header = ["rung", "idea", "config", "FLOP/byte", "registers", "predicted by hand",
              f"TFLOP/s at {LADDER_SIZE}", "step", "of peak", "of vendor's", f"at {LARGER_SIZE}",
              "of vendor's", "joules per TFLOP"]
    rows, before = [], None
    for folder in folders:
        if not is_of_tensor_cores(results, folder):
            continue
        entry = results.facts_of(folder.name)[0]
        rows.append(row_of(results, page, folder, entry, before))
        run = run_at(results, folder.name, LADDER_SIZE, entry["config"])
        before = run["tflops"] if run else None
    if not rows:
        return NOTHING
    words = (f"Column-major NN, BF16 in and out, FP32 sums. *FLOP/byte*: of a tile, by formula. *Registers*: at "
             f"launch. *Predicted by hand*: on the rung's page, before it was measured. *Step*: speed "
             f"relative to the rung before. *Joules per TFLOP*: sustained, at {LARGER_SIZE}. *Of peak*: of {PEAKS['bf16'][0]} TFLOP/s ({PEAKS['bf16'][1]}).")
    parts = [table(header, rows + library_row(results)), f"{words} {source_of(results)}"]
    return "\n\n".join(([PICTURE] if before else []) + parts)


def source_of(results):
    runs = [r for r in results.timed["runs"] if is_bf16(r)]
    if not runs:
        return f"Times: {NOTHING}."
    environment = results.timed["environment"]
    dates = " and ".join(sorted({r["date"][:10] for r in runs}))
    return (f"Times: {environment['device']['name']}, {dates}, burst, median, verified; "
            "`results/ladder/h200_ladder_bf16.json`.")


def is_bf16(run):
    is_rung = run["kernel"][:2].isdigit() and int(run["kernel"][:2]) > 30
    return run["kernel"] == LIBRARY or (is_rung and run["problem"]["type"] == "bf16")


def climb(panel, bars, vendor):
    """`bars`: (number, name, predicted, TFLOP/s)."""
    panel.text(panel.left, 30, f"BF16 on tensor cores: one idea per rung, TFLOP/s at {LADDER_SIZE}", 16,
               anchor="start", bold=True)
    for tick in range(0, int(panel.most) + 1, 100):
        panel.rule(tick)
        panel.text(panel.left - 8, panel.y(tick) + 4, str(tick), 11, "quiet", "end")
    slot = panel.width / len(bars)
    for i, (label, name, guess, tflops) in enumerate(bars):
        x = panel.left + slot * i + slot * 0.14
        panel.bar(x, slot * 0.72, tflops, "ours")
        panel.text(x + slot * 0.36, panel.bottom + 18, label, 12, "quiet")
        panel.upright(x + slot * 0.36 + 4, tflops, name)
        if guess:
            panel.parts.append(f'<line x1="{x - 3:.1f}" x2="{x + slot * 0.72 + 3:.1f}" '
                               f'y1="{panel.y(guess):.1f}" y2="{panel.y(guess):.1f}" '
                               f'stroke="{panel.colours["text"]}" stroke-width="1.5"/>')
    panel.rule(vendor, dashed=True)
    panel.text(panel.left + 4, panel.y(vendor) - 6, f"cuBLAS: {vendor:.0f}", 12, "quiet", "start")


def bars_of(results, folders):
    for folder in folders:
        if not is_of_tensor_cores(results, folder):
            continue
        run = run_at(results, folder.name, LADDER_SIZE, results.facts_of(folder.name)[0]["config"])
        if run:
            yield folder.name[:2], folder.name[3:].replace("_", " "), predicted(folder), run["tflops"]
    run = run_at(results, LIBRARY, LADDER_SIZE)
    if run:
        yield "", "Tessera's library", None, run["tflops"]


def pictures(root, results, folders):
    """Yields (path, text); nothing where the runs are not there."""
    bars = list(bars_of(results, folders))
    beside = [r["tflops"] / r["ratio_to_vendor"] for r in results.timed["runs"]
              if is_bf16(r) and r["problem"]["m"] == LADDER_SIZE and r["ratio_to_vendor"]]
    if not bars or not beside:
        return
    vendor = sorted(beside)[len(beside) // 2]
    for theme, colours in THEMES.items():
        panel = Panel(colours, 46, WIDTH - 60, 1.08 * max(vendor, *(bar[3] for bar in bars)))
        climb(panel, bars, vendor)
        panel.text(panel.left, HEIGHT - 34, "Marks: what the rung's page predicted.", 11, "quiet", "start")
        panel.text(panel.left, HEIGHT - 16, source_of(results).replace("`", ""), 11, "quiet", "start")
        yield (root / f"docs/pictures/tensor-ladder-{theme}.svg", "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, '
            'sans-serif" role="img" aria-label="The rungs on tensor cores, BF16 on an H200">',
            *panel.parts, "</svg>", ""]))
