#!/usr/bin/env python3
"""Transformers with random weights whose products are ours (tessera.torch_op.enable()), in turn with PyTorch's own.
Fails where logits or gradients differ by more than the types explain, or where products were left to PyTorch.
clients/transformers.py LIBRARY [--json FILE --commit HASH] [--tiny] [--device cpu]
  --json   all types and cases, with times: medians and 5-95 % ranges of a step, in milliseconds"""
import argparse
import ctypes
import json
import os
import pathlib
import random
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("library")
parser.add_argument("--json")
parser.add_argument("--commit", default="")
parser.add_argument("--tiny", action="store_true", help="small models, to try this program")
parser.add_argument("--device", default="cuda")
parser.add_argument("--rounds", type=int, default=9)
options = parser.parse_args()
os.environ["TESSERA_LIBRARY"] = os.path.abspath(options.library)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))
sys.dont_write_bytecode = True

try:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(0)
if options.device == "cuda" and not torch.cuda.is_available():
    print("skipped: PyTorch sees no GPU")
    sys.exit(0)
import models  # noqa: E402
import tessera  # noqa: E402
import tessera.torch_op as torch_op  # noqa: E402

DEVICE = options.device
CASES = {"prefill 1 x 2048": (1, 2048), "decode 64 x 1": (64, 1), "ragged 3 x 77": (3, 77), "training step 2 x 256": (2, 256)}
TOLERANCES = {torch.bfloat16: 0.05, torch.float16: 0.01, torch.float32: 2e-5}
SECONDS = 0.05  # of a group of steps


def sync():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def made(name, dtype):
    torch.manual_seed(1)
    with torch.device(DEVICE):
        if options.tiny:
            model = models.Llama(2, 64, 160, 4, 500) if name == "LLaMA" else models.Gpt2(2, 96, 4, 500)
        else:
            model = models.Llama() if name == "LLaMA" else models.Gpt2()
    return model.to(dtype)


def step_of(model, case):
    """One step, which gives the logits, and, of training, fills the gradients."""
    words = model.embedding.num_embeddings
    tokens = torch.randint(words, (1, 40) if options.tiny and "2048" in case else CASES[case], device=DEVICE)
    if not case.startswith("training"):
        def step():
            with torch.no_grad():
                return model(tokens)
        return step

    def step():
        model.zero_grad(set_to_none=True)
        logits = model(tokens)
        torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), tokens.flatten()).backward()
        return logits.detach()
    return step


def relative(x, y):
    return ((x.double() - y.double()).norm() / y.double().norm().clamp_min(1e-30)).item()


def differences(model, step, case):
    """Of logits and of all gradients, ours from PyTorch's, and how many products each side computed."""
    theirs = step().clone()
    their_gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    torch_op.enable(DEVICE, allow_tf32=False)
    before = torch_op.counts()
    ours = step()
    after = torch_op.counts()
    torch_op.disable()
    worst = relative(ours, theirs)
    if case.startswith("training"):
        assert their_gradients, "a training step without gradients"
        worst = max([worst] + [relative(p.grad, their_gradients[name]) for name, p in model.named_parameters() if p.grad is not None])
    return worst, after[0] - before[0], after[1] - before[1]


def timed(step):
    """Milliseconds of a step in groups of each side, in random order."""
    times = {"torch": [], "tessera": []}
    count = 1
    for round_ in range(-1, options.rounds):
        for side in random.sample(list(times), 2):
            if side == "tessera":
                torch_op.enable(DEVICE, allow_tf32=False)
            for _ in range(3):
                step()
            sync()
            begin = time.perf_counter()
            for _ in range(count):
                step()
            sync()
            ms = (time.perf_counter() - begin) * 1000 / count
            torch_op.disable()
            if round_ >= 0:
                times[side].append(ms)
            else:
                count = max(count, min(100, int(SECONDS * 1000 / ms)))
    return {side: summary(one) for side, one in times.items()}


def summary(times):
    times = sorted(times)
    at = [times[int(share * (len(times) - 1) + 0.5)] for share in (0.5, 0.05, 0.95)]
    return dict(zip(("median", "p5", "p95"), (round(x, 4) for x in at)), n=len(times))


class Recorder(TorchDispatchMode):
    """Keeps the products of a step, with their operands."""

    def __init__(self):
        super().__init__()
        self.products = []

    def __torch_dispatch__(self, function, kinds, arguments=(), options=None):
        if function.overloadpacket in (torch.ops.aten.mm, torch.ops.aten.addmm, torch.ops.aten.bmm, torch.ops.aten.baddbmm):
            self.products.append((function, arguments))
        return function(*arguments, **(options or {}))


def launches_of(graph):
    """Its nodes, which are launches, and what a library clears."""
    count = ctypes.c_size_t()
    result = ctypes.CDLL("libcuda.so.1").cuGraphGetNodes(ctypes.c_void_p(graph.raw_cuda_graph()), None, ctypes.byref(count))
    assert result == 0, f"cuGraphGetNodes: {result}"
    return count.value


def products_alone(step):
    """Milliseconds on the GPU of the products of a step, without the host: as a graph that runs them, in turn; and how
    many launches these are."""
    with Recorder() as recorder:
        step()
    times, graphs = {"torch": [], "tessera": []}, {}
    for side in times:
        if side == "tessera":
            torch_op.enable(DEVICE, allow_tf32=False)
        for function, arguments in recorder.products:
            function(*arguments)
        sync()
        graphs[side] = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(graphs[side]):
            for function, arguments in recorder.products:
                function(*arguments)
        torch_op.disable()
    for _ in range(15):
        for side in random.sample(list(times), 2):
            marks = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            graphs[side].replay()
            marks[0].record()
            for _ in range(3):
                graphs[side].replay()
            marks[1].record()
            sync()
            times[side].append(marks[0].elapsed_time(marks[1]) / 3)
    return {side: summary(one) for side, one in times.items()}, {side: launches_of(graph) for side, graph in graphs.items()}


def measure(name, dtype, case, model):
    step = step_of(model, case)
    worst, taken, left = differences(model, step, case)
    row = {"model": name, "type": str(dtype)[6:], "case": case, "difference": worst, "products": taken, "left_to_pytorch": left}
    is_right = worst <= TOLERANCES[dtype] and taken > 8 and left == 0
    text = f"{name:6} {row['type']:9} {case:22} differs by {worst:.1e}, {taken} products, {left} left"
    if options.json:
        row["ms"] = timed(step)
        row["speed"] = round(row["ms"]["torch"]["median"] / row["ms"]["tessera"]["median"], 4)
        if row["speed"] < 0.97 and DEVICE == "cuda" and not case.startswith("training"):
            row["products_ms"], row["launches"] = products_alone(step)
        text += f"; PyTorch {row['ms']['torch']['median']:.3f} ms, ours {row['ms']['tessera']['median']:.3f} ms, {row['speed']:.3f} of its speed"
        if "products_ms" in row:
            alone = {side: one["median"] for side, one in row["products_ms"].items()}
            text += f"; products alone {alone['torch']:.3f} and {alone['tessera']:.3f} ms"
    print(text + ("" if is_right else "  WRONG"), flush=True)
    return row, is_right


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    if torch_op._native is None:
        sys.exit(f"the operators in C++ are missing: {torch_op._why_not}")
    rows, failed = [], 0
    for name in ("GPT-2", "LLaMA"):
        for dtype in (TOLERANCES if options.json else (torch.bfloat16, torch.float32)):
            model = made(name, dtype)
            for case in CASES:
                row, is_right = measure(name, dtype, case, model)
                rows.append(row)
                failed += not is_right
            del model
    if options.json:
        what = {"what": "Milliseconds of a step with PyTorch's products and with ours, in turn, groups in random order.",
                "command": "tests/python/clients/transformers.py", "commit": options.commit, "torch": torch.__version__,
                "tessera": tessera.__version__, "gpu": torch.cuda.get_device_name() if DEVICE == "cuda" else "none"}
        with open(options.json, "w") as file:
            json.dump(dict(what, rows=rows), file, indent=1)
            file.write("\n")
    print(f"{len(rows)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
