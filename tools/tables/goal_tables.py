"""What we set out to reach beside the vendor's library, and what was reached.

  goals   any page   one row a goal: ratio of each shape, the slowest layout   results/{h200_,tensor/,batches/}*.json

A goal is missed where the mean of one of its shapes is, or a layout is more than 3 % below it. Of several
runs of one problem the newest counts; files that compare variants are left out.
"""
from dataclasses import dataclass

import fp32_tables
import results_files
import shape_tables
from cells import NOTHING, table

LEFT_OUT = ("variants", "old_and_new", "reordered", "portable")
A_LAYOUT_MAY_MISS = 0.03


@dataclass(frozen=True)
class Goal:
    """Speed over the vendor's, or over our own at `neighbour` where shapes are squares."""
    words: str
    types: tuple
    shapes: tuple  # (m, n, k), of batches (count, m, n, k)
    least: float
    stretch: float
    mode: str = "burst"
    layouts: tuple = fp32_tables.LAYOUTS
    neighbour: int = 0


def squares(*sizes):
    return tuple((size, size, size) for size in sizes)


TENSOR, HALVES = ("bf16", "f16", "tf32", "f64"), ("bf16", "f16")
NOT_NT = ("NN", "TN", "TT")
THIN = ((16, 8192, 8192), (64, 8192, 8192), (128, 8192, 8192), (256, 256, 65536), (128, 128, 262144),
        (8192, 8192, 64), (100000, 64, 64), (512, 128, 256))
THIN_FP32 = ((64, 8192, 8192), (256, 256, 65536), (128, 128, 262144), (100000, 64, 64), (50257, 1024, 768))
VECTORS = ((1, 4096, 4096), (4096, 1, 4096), (1, 50257, 768), (1, 16384, 4096))
LARGER = ((64, 512, 512, 512), (256, 2048, 128, 64))
GOALS = (
    Goal("large squares", HALVES, squares(4096, 8192), 1.0, 1.02),
    Goal("the same, sustained", HALVES, squares(4096, 8192), 1.0, 1.04, mode="sustained"),
    Goal("small squares", HALVES, squares(1024, 2048), 1.0, 1.1),
    Goal("large squares", ("tf32",), squares(4096, 8192, 16384), 1.0, 1.03, layouts=NOT_NT),
    Goal("large squares, NT", ("tf32",), squares(4096, 8192, 16384), 1.35, 1.5, layouts=("NT",)),
    Goal("squares", ("f64",), squares(2048, 4096, 8192, 16384), 0.99, 1.03),
    Goal("odd, of our 1024", TENSOR, squares(1023), 0.70, 0.80, neighbour=1024),
    Goal("odd, of our 2048", TENSOR, squares(2047), 0.80, 0.90, neighbour=2048),
    Goal("odd, of our 4096", TENSOR, squares(4095, 4097), 0.85, 0.93, neighbour=4096),
    Goal("thin", ("bf16",), THIN, 1.0, 1.15),
    Goal("odd rows of A and D", ("bf16",), ((50257, 1024, 768),), 3.0, 4.5, layouts=("NN",)),
    Goal("the same, other layouts", ("bf16",), ((50257, 1024, 768),), 1.0, 1.1, layouts=("NT", "TN", "TT")),
    Goal("batches", ("bf16", "f64"), LARGER, 1.0, 1.1),
    Goal("batches", ("f32",), LARGER, 1.1, 1.4),
    Goal("batches, 1000 of 64", ("bf16", "f32", "f64"), ((1000, 64, 64, 64),), 1.1, 1.5),
    Goal("batches, 10000 of 32", ("bf16", "f32"), ((10000, 32, 32, 32),), 1.1, 1.5),
    Goal("batches, 10000 of 32", ("f64",), ((10000, 32, 32, 32),), 1.0, 1.5),
    Goal("batches, 4096 of 16", ("bf16", "f32", "f64"), ((4096, 16, 16, 16),), 2.0, 4.0),
    Goal("small square", ("f32",), squares(512), 1.2, 1.3),
    Goal("odd and ragged squares", ("f32",), squares(1000, 1023, 2047, 4095), 1.06, 1.12),
    Goal("squares", ("f32",), squares(2048), 1.08, 1.12),
    Goal("squares", ("f32",), squares(4096), 1.10, 1.12),
    Goal("a vector", ("f32",), VECTORS, 0.95, 1.1),
    Goal("wide, NN", ("f32",), ((200, 30000, 500),), 0.97, 1.05, layouts=("NN",)),
    Goal("tall, TT", ("f32",), ((6000, 700, 900),), 0.97, 1.05, layouts=("TT",)),
    Goal("thin", ("f32",), THIN_FP32, 1.0, 1.15),
)


def key_of(run):
    p = run["problem"]
    batch = p.get("batch")
    shape = (p["m"], p["n"], p["k"])
    return p["type"], (batch["count"], *shape) if batch else shape, run["mode"], p["layout"]


def is_shown(run):
    """Sustained runs are of kernels that the burst ones verify."""
    return (results_files.is_ours(run) and run["ratio_to_vendor"] and
            (run["mode"] == "sustained" or run["verified"] in ("full", "sampled")))


def newest_runs(root):
    """(type, shape, mode, layout) -> run."""
    folders = (("", "h200_*.json"), ("tensor", "*.json"), ("batches", "*.json"))
    paths = [path for folder, names in folders for path in (root / "results" / folder).glob(names)]
    files = [fp32_tables.load(path) for path in paths if not any(word in path.name for word in LEFT_OUT)]
    files = [file for file in files if file.get("schema") == "tessera.results/1"]
    newest = {}
    for file in sorted(files, key=lambda file: file["environment"]["date"]):
        newest.update({key_of(run): run for run in file["runs"] if is_shown(run)})
    return newest


def ratios_of(goal, runs, type_, shape):
    """By layout: speed over the vendor's, or over ours at the neighbour."""
    found = {}
    for layout in goal.layouts:
        run = runs.get((type_, shape, goal.mode, layout))
        beside = runs.get((type_, (goal.neighbour,) * 3, goal.mode, layout)) if goal.neighbour else run
        if run and beside:
            found[layout] = run["tflops"] / beside["tflops"] if goal.neighbour else run["ratio_to_vendor"]
    return found


def shape_text(shape):
    if len(shape) == 4:
        return f"{shape[0]} x ({shape_text(shape[1:])})"
    return str(shape[0]) if len(set(shape)) == 1 else " x ".join(map(str, shape))


def joules(goal, runs, type_, shape):
    """, 1.05 J (1.04): joules a TFLOP, ours and the vendor's, where they were counted."""
    used = [run["energy"] for layout in goal.layouts
            if (run := runs.get((type_, shape, goal.mode, layout))) and run.get("energy")]
    if not used:
        return ""
    own, vendor = (fp32_tables.mean(one[name] for one in used)
                   for name in ("joules_per_tflop", "vendor_joules_per_tflop"))
    return f", {own:.2f} J/TFLOP (vendor {vendor:.2f})"


def row_of(goal, runs, type_):
    """Cells: type, words, goal, each shape's mean, the slowest layout, verdict."""
    said, worst, missing, gaps = [], None, [], False
    for shape in goal.shapes:
        found = ratios_of(goal, runs, type_, shape)
        gaps |= len(found) < len(goal.layouts)
        if not found:
            said.append(f"{shape_text(shape)}: not measured")
            continue
        mean = shape_tables.geometric_mean(list(found.values()))
        layout = min(found, key=found.get)
        missing += [mean / goal.least, (found[layout] + A_LAYOUT_MAY_MISS * goal.least) / goal.least]
        if worst is None or found[layout] < worst[0]:
            worst = (found[layout], f"{found[layout]:.2f}, {layout} of {shape_text(shape)}")
        only = f" ({', '.join(found)})" if len(found) < len(goal.layouts) else ""
        text = f"{shape_text(shape)}: {mean:.2f}{only}{joules(goal, runs, type_, shape)}"
        said.append(f"**{text}**" if mean < goal.least else text)
    if not missing:
        verdict = "not measured"
    elif min(missing) < 1:
        verdict = f"no, {100 * (min(missing) - 1):.1f} %"
    else:
        verdict = "as far as measured" if gaps else "yes"
    return [shape_tables.NAMES[type_], goal.words, f"{goal.least:.2f}, {goal.stretch:.2f}", "; ".join(said),
            worst[1] if worst else "-", verdict]


def sections(root):
    runs = newest_runs(root)
    if not runs:
        return {"goals": NOTHING}
    rows = [row_of(goal, runs, type_) for goal in GOALS for type_ in goal.types]
    reached = sum(row[-1] == "yes" for row in rows)
    head = ["type", "what", "goal, stretch", "ratio of each shape", "slowest layout", "reached"]
    words = ("*ratio*: our speed over that of the better of cuBLAS and the fastest of 12 cuBLASLt candidates, timed "
             "in turn on an H200, a geometric mean over the layouts; of *odd* squares over our own at the neighbour. In "
             "bold where it is below the goal; *reached* is also *no* where a layout is more than 3 % below it. Layouts "
             f"in brackets: only these were measured. {reached} of {len(rows)} reached.")
    return {"goals": f"{table(head, rows)}\n\n{words}"}
