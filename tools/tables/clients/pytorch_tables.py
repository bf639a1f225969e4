"""PyTorch with our kernels in place of its own, in turn with its own.

  pytorch_calls  docs/api/pytorch.md   what a call costs the host     results/interface/h100_operator_calls.json
  pytorch_steps  docs/api/pytorch.md   steps of two transformers      results/interface/h100_transformers.json

Made on a GPU:

  tests/python/gpu/host_calls.py build/libtessera.so.0 --size 0 --json CALLS --commit HASH
  tests/python/clients/transformers.py build/libtessera.so.0 --json STEPS --commit HASH
"""
import json

from cells import NOTHING, table

TYPES = {"bfloat16": "BF16", "float16": "FP16", "float32": "FP32"}
PAIRS = [(name, f"PyTorch {name}", f"ours {name}") for name in (
    "matmul", "linear", "linear with bias", "bmm", "matmul out=", "matmul, gradients",
    "matmul, forward and backward")] + [
    ("torch.ops.tessera.matmul", "PyTorch matmul", "ours operator"),
    ("torch.ops.tessera.matmul, gradients", "PyTorch matmul, gradients", "ours operator, gradients")]
LEAST = 0.95  # of PyTorch's speed


def load(root, name):
    path = root / "results/interface" / name
    return json.loads(path.read_text()) if path.exists() else None


def origin(file):
    return f"{file['gpu']}, PyTorch {file['torch']}, library of commit {file['commit']}"


def calls(root):
    file = load(root, "h100_operator_calls.json")
    if file is None:
        return NOTHING
    times = {(row["call"], row["type"]): row["p50_us"] for row in file["calls"]}
    types = [t for t in TYPES if ("ours matmul", t) in times]
    rows = [[f"`{name}`"] + [f"{times[side, t]:.1f}" for t in types for side in (theirs, ours)]
            for name, theirs, ours in PAIRS if all((ours, t) in times for t in types)]
    header = ["call"] + [f"{TYPES[t]}, {side}" for t in types for side in ("PyTorch", "ours")]
    count = max(row["n"] for row in file["calls"])
    return (table(header, rows) + f"\n\nMicroseconds on the host, medians of {count} calls of 64 x 64 in groups, in turn. "
            f"{origin(file)}.")


def cell(row):
    ms = row["ms"]
    text = f"{ms['torch']['median']:.2f} / {ms['tessera']['median']:.2f} ({row['speed']:.2f})"
    return f"**{text}**" if row["speed"] < LEAST else text


def reason(theirs, ours, launches):
    """Why a step is slower: its kernels, or else the host, which launches them one by one."""
    if ours > theirs:
        return ": the kernels are slower"
    return ": the host takes longer for them" if launches and launches["tessera"] > launches["torch"] else ""


def alone(rows):
    """One sentence for each step below the least speed: its products alone."""
    slow = [row for row in rows if row["speed"] < LEAST and "products_ms" in row]
    lines = []
    for row in slow:
        theirs, ours = (row["products_ms"][side]["median"] for side in ("torch", "tessera"))
        text = (f"- {row['model']}, {TYPES[row['type']]}, {row['case']}: its {row['products']} products alone take {theirs:.2f} ms "
                f"with PyTorch's kernels and {ours:.2f} with ours ({theirs / ours:.2f})")
        if launches := row.get("launches"):
            text += f", in {launches['torch']} launches and {launches['tessera']}"
        lines.append(text + reason(theirs, ours, launches) + ".")
    return "\n".join(lines)


def steps(root):
    file = load(root, "h100_transformers.json")
    if file is None:
        return NOTHING
    rows = {(row["model"], row["case"], row["type"]): row for row in file["rows"]}
    cases = list(dict.fromkeys((row["model"], row["case"]) for row in file["rows"]))
    body = [[model, case] + [cell(rows[model, case, t]) for t in TYPES] for model, case in cases]
    text = table(["model", "step"] + list(TYPES.values()), body)
    count = min(row["ms"]["torch"]["n"] for row in file["rows"])
    text += (f"\n\nMilliseconds of a step, PyTorch's kernels / ours, in brackets the ratio of speeds, below {LEAST} in bold; medians of "
             f"{count} groups, in turn. {origin(file)}.")
    slow = alone(file["rows"])
    return text + (f"\n\nBelow {LEAST}, as one CUDA graph of the products:\n\n{slow}" if slow else "")


def sections(root):
    return {"pytorch_calls": calls(root), "pytorch_steps": steps(root)}
