"""Machine code as ptxas wrote it, with other registers, another order of its FFMAs, and both.

  rewritten   any page   one row a kernel and layout: speed as compiled, what each gains, what the
                         port model expects   results/ladder/h200_rewritten*.json
  reordered   any page   one row a rung: speed before and after, by layout   results/h200_reordered.json

Made on a GPU:

  build/tessera bench --kernel 12,15,simt_f32,08,10,11,09,14/serpentine -m 4096 --layout all \\
                      --rewritten all --mode burst --rounds 3 --workspace-limit none \\
                      --json results/ladder/h200_rewritten.json
"""
import renamed
import results_files
from cells import NOTHING, speed, table

WAYS = ("remapped", "reordered", "both")
LAYOUTS = ("NN", "NT", "TN", "TT")


def gain(value):
    """+2.3 %, -0.4 %, 0.0 %"""
    return f"{100 * (value - 1):+.1f} %".replace("+0.0", "0.0").replace("-0.0", "0.0")


def expected(companion):
    """What the cycles of the main loop say, crowded FFMAs left out."""
    loop = companion.get("main_loop")
    return gain(loop["cycles_before"] / loop["cycles"]) if loop else "-"


def cell(companion):
    """+2.3 % (+5.0 %): measured, and by the model."""
    if companion is None:
        return "-"
    if companion["speedup"] is None:
        if companion.get("verified") == "failed":
            return "**wrong result**"
        return "nothing found" if "nothing is gained" in (companion["reason"] or "") else "not run"
    wrong = "" if companion["same_bits"] else ", other bits"
    return f"{gain(companion['speedup'])} ({expected(companion)}{wrong})"


def name_of(run):
    rung = run["kernel"]
    return rung[:2] + ("/" + run["config"] if run["kernel"] == "14_operand_order" else "") \
        if rung[0].isdigit() else f"`{rung}`"


def place(run):
    return run["kernel"], run["config"], LAYOUTS.index(run["problem"]["layout"])


def newest(files):
    """One run for each kernel and layout: what was measured again takes the place of what was before."""
    runs = {}
    for file in sorted(files, key=lambda file: file["environment"]["date"]):
        for run in file["runs"]:
            if run.get("rewritten") and run["time_ms"]:
                runs[place(run)] = run
    return [runs[key] for key in sorted(runs)]


def rows(runs):
    for run in runs:
        ways = {companion["rewriting"]: companion for companion in run["rewritten"]}
        yield [name_of(run), run["problem"]["layout"], speed(run["tflops"]),
               *(cell(ways.get(way)) for way in WAYS)]


def body(files):
    runs = newest(files)
    pairs = [companion for run in runs for companion in run["rewritten"] if companion["speedup"]]
    same = sum(bool(companion["same_bits"]) for companion in pairs)
    size = files[0]["runs"][0]["problem"]["m"]
    environment = files[0]["environment"]
    return "\n\n".join([
        table(["kernel", "layout", "TFLOP/s as compiled", *WAYS],
              list(rows(runs))),
        f"Speed over the code as ptxas wrote it, in turn in one run, at {size}, burst, median; in brackets what "
        f"the cycles of the main loop let expect (model: ports). In {same} of {len(pairs)} timed runs D had the same bits. "
        f"{environment['device']['name']}, driver {environment['device']['driver']}, {environment['date'][:10]}; "
        f"{results_files.described(files)}."])


def reordered(root):
    """Code as ptxas wrote it beside the same in another order; rung 16 is the reordered 15."""
    path = root / "results/h200_reordered.json"
    if not path.exists():
        return NOTHING
    file = renamed.load(path)
    file["name"] = path.name
    results_files.require_one_commit(file, f"results/{path.name}")
    speeds = {}
    for run in file["runs"]:
        if run["problem"]["m"] == 4096 and run["mode"] == "burst" and run["verified"] in ("full", "sampled"):
            speeds[run["kernel"][:2], run["problem"]["layout"], run["build"]] = run["tflops"]

    def cell(rung, layout):
        # The build had both codes of 15: its rung 16.
        after = ("16", layout, "this") if rung == "15" else (rung, layout, "other")
        return f"{speed(speeds[rung, layout, 'this'])} → {speed(speeds[after])}"
    rungs = sorted({rung for rung, _, _ in speeds} - {"16"})
    body = table(["rung", *LAYOUTS], [[rung.replace("15", "15 → 16"), *(cell(rung, layout) for layout in LAYOUTS)]
                                      for rung in rungs])
    return (f"{body}\n\nTFLOP/s at 4096, burst, as ptxas wrote the code and reordered, in turn in one run, both verified. "
            f"{results_files.described([file])}.")


def sections(root):
    files = []
    for path in sorted((root / "results/ladder").glob("h200_rewritten*.json")):
        file = renamed.load(path)
        file["name"] = path.name
        results_files.require_one_commit(file, f"results/ladder/{path.name}")
        files.append(file)
    return {"rewritten": body(files) if files else NOTHING, "reordered": reordered(root)}
