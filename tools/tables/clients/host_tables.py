"""Products of operands in host memory, by size: the CPU, the plain way, and the C interface.

  host_operands  docs/performance.md   by size and type   results/host_operands/h100_*.json

Made on a GPU, with OpenBLAS and the images of the build:

  build/host_operands --type TYPE --sizes N,... --json results/host_operands/h100_TYPE.json
"""
import json

from cells import NOTHING, table

TYPES = {"f32": "FP32", "f64": "FP64", "bf16": "BF16", "shapes": "FP32"}
ALLOWED = 1.1  # of the faster of both, and FEW microseconds
FEW = 5


def size_of(row):
    extents = [row[x] for x in "mnk"]
    return str(extents[0]) if len(set(extents)) == 1 else " x ".join(map(str, extents))


def line(word, row):
    cpu, plain, ours = (row[f"{side}_us"]["median"] for side in ("cpu", "plain", "tessera"))
    within = ours <= ALLOWED * min(cpu, plain) + FEW
    text = f"{ours:.1f}" if within else f"**{ours:.1f}**"
    return [TYPES[word], size_of(row), f"{cpu:.1f}", f"{plain:.1f}", text, row["side"].upper()]


def sections(root):
    files = {}
    for word in TYPES:
        path = root / f"results/host_operands/h100_{word}.json"
        if path.exists():
            files[word] = json.loads(path.read_text())
    if not files:
        return {"host_operands": NOTHING}
    rows = [line(word, row) for word, file in files.items() for row in file["rows"]]
    first = next(iter(files.values()))
    missed = sum(row[4].startswith("**") for row in rows)
    text = table(["type", "m = n = k, or m x n x k", "CPU", "plain way", "Tessera", "side"], rows)
    return {"host_operands": f"{text}\n\nMicroseconds of a call on the host, medians. {first['gpu']}, {first['cores']} cores, {first['cpu']}, "
                             f"commit {first['commit']}. In bold: above {ALLOWED} times the faster of both and {FEW} us ({missed} of {len(rows)})."}
