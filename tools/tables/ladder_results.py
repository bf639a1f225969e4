"""The result files that the ladder's tables are made of, and which of their runs a table shows."""
import json
import re
import sys

import renamed
import results_files

# TFLOP/s of an H200 or an H100. FFMA and DFMA: a loop of nothing else, measured (FFMA: whole_gpu of
# results/calibration/h200_registers.json); tensor cores: data sheet.
PEAKS = {"f32": (66.5, "FFMA, measured"), "f64": (33.3, "DFMA, measured"),
         "matrix": (66.9, "FP64 tensor core, data sheet"),
         "bf16": (989, "BF16 tensor core, data sheet"),
         "f16x3": (330, "three products on FP16 tensor cores, data sheet")}
CARDS = ("h200", "h100")  # whose runs the files hold, in their names
LADDER_SIZE = 4096  # the square that the ladder's table shows


class Results:
    """The result files of the ladder; one that does not exist has no rows."""

    def __init__(self, root):
        folder = root / "results/ladder"
        self.timed = merged([path for card in CARDS for path in sorted(folder.glob(f"{card}_ladder_*.json"))])
        self.counted = load(folder / "ladder_counts.json", "runs")
        self.facts = load(folder / "ladder_cubin.json", "entries")
        self.explained = load(folder / "ladder_explained.json", "explained")

    def facts_of(self, kernel):
        """One entry per config: column-major NN where the majors are compiled in, and the first where
        several differ in their loads."""
        plain = {}
        for entry in self.facts["entries"]:
            if entry["kernel"] == kernel and operand_mode(entry)[:5] in ("", "ak_bn"):
                plain.setdefault(entry["config"], entry)
        return list(plain.values())

    def entries_of(self, kernel, config):
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
        return PEAKS[entries[0]["type"] if entries else "f32"]


def operand_mode(entry):
    """Majors and loads of an entry, "ak_bn" or "ak_bn_copy_tma"; "" where neither is fixed."""
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
    """The runs of several files under the first one's environment, each with its own `date`, `environment`
    and `files`, those of its card; of equal runs the first."""
    files = [(path, load(path, "runs")) for path in paths]
    runs = {}
    dated = ({**run, "date": file["environment"]["date"], "environment": file["environment"], "files": files_of(path)}
             for path, file in files for run in file["runs"])
    for run in filter(results_files.is_ours, dated):
        what = [run["kernel"], run["config"], run["problem"], run["mode"]]
        runs.setdefault(json.dumps(what), run)
    return {**(files[0][1] if files else {}), "runs": list(runs.values())}


def files_of(path):
    """`results/ladder/h200_ladder_*.json`: the files of its card."""
    return f"`results/ladder/{path.name.split('_')[0]}_ladder_*.json`"


def is_plain_burst(run):
    """Square, column-major NN, alpha 1, beta 0, timed in a burst."""
    p = run["problem"]
    square = p["m"] == p["n"] == p["k"]
    plain = p["layout"] == "NN" and p["order"].startswith("col") and p["alpha"] == 1
    return square and plain and p["beta"] == 0 and run["mode"] == "burst" and run["tflops"]
