"""Two builds' code for the same plans, timed in turn in one run: what a change of the source cost.

  old_and_new   any page   one row a size: new over old, by layout   results/h200_old_and_new*.json

Made on a GPU, with the images of the older build in FOLDER:

  build/tessera bench --kernel best -m 512:8192:x2 --layout all --mode burst --workspace-limit none \\
                      --against FOLDER --json results/h200_old_and_new.json
"""
import fp32_tables
import renamed
import results_files


def rows_of(files):
    """Size -> layout -> speed of the new code over the old; verified pairs alone."""
    sizes = {}
    for file in files:
        for run in file["runs"]:
            checked = run["verified"] in ("full", "sampled")
            if checked and run.get("build") == "this" and run.get("ratio_to_other"):
                size, layout = run["problem"]["m"], run["problem"]["layout"]
                sizes.setdefault(size, {})[layout] = run["ratio_to_other"]
    return dict(sorted(sizes.items()))


def sections(root):
    files = []
    for path in sorted((root / "results").glob("h200_old_and_new*.json")):
        file = renamed.load(path)
        file["name"] = path.name
        results_files.require_one_commit(file, f"results/{path.name}")
        files.append(file)
    rows = rows_of(files)
    if not rows:
        return {"old_and_new": fp32_tables.NOTHING}
    cells = [[str(size), *(f"{by[layout]:.3f}" if layout in by else "-"
                           for layout in fp32_tables.LAYOUTS)] for size, by in rows.items()]
    worst = min(ratio for by in rows.values() for ratio in by.values())
    words = (f"Speed of the new code over that of the old, in turn in one run, burst, both verified; "
             f"the lowest is {worst:.3f}. {results_files.described(files)}.")
    return {"old_and_new": fp32_tables.table(["size", *fp32_tables.LAYOUTS], cells) + "\n\n" + words}
