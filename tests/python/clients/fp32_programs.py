#!/usr/bin/env python3
"""Programs of others in FP32 by PyTorch's products, by ours, and by ours in f16x3 (tessera.torch_op.enable(fp32=...)).
Fails where f16x3 changes iterations or a loss by more than 2 %, or a residual by more than 20 %, unless our FP32 changes
it half as much. With --tiny, products are small, and f16x3 leaves them to FP32's kernels.
clients/fp32_programs.py LIBRARY [--json FILE --commit HASH] [--tiny] [--device cpu]
  svd_lowrank   torch.svd_lowrank of a matrix whose singular values fall by 10^4
  cg            GPyTorch's conjugate gradients (linear_operator.utils.linear_cg) on a kernel matrix
  training      a small transformer and AdamW: the loss after 200 steps"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("library")
parser.add_argument("--json")
parser.add_argument("--commit", default="")
parser.add_argument("--tiny", action="store_true", help="small problems, to try this program")
parser.add_argument("--device", default="cuda")
parser.add_argument("--rounds", type=int, default=3)
options = parser.parse_args()
os.environ["TESSERA_LIBRARY"] = os.path.abspath(options.library)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))
sys.dont_write_bytecode = True

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(0)
if options.device == "cuda" and not torch.cuda.is_available():
    print("skipped: PyTorch sees no GPU")
    sys.exit(0)
try:
    from linear_operator.utils.linear_cg import linear_cg
except ImportError:
    linear_cg = None
import models  # noqa: E402
import tessera.torch_op as torch_op  # noqa: E402

DEVICE = options.device
WAYS = {"PyTorch": None, "f32": "f32", "f16x3": "f16x3"}


def sync():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def svd_lowrank():
    rows, columns, rank = (300, 200, 20) if options.tiny else (16384, 8192, 512)
    torch.manual_seed(1)
    left, right = (torch.randn(n, columns, device=DEVICE) for n in (rows, columns))
    a = (left * torch.logspace(0, -4, columns, device=DEVICE)) @ right

    def run():
        torch.manual_seed(2)
        return torch.svd_lowrank(a, q=rank, niter=6)

    def judged(result):
        u, s, v = (x.double() for x in result)
        exact = a.double()
        return {"residual": float(((u * s) @ v.T - exact).norm() / exact.norm())}

    return run, judged


def cg():
    points, columns = (300, 8) if options.tiny else (16384, 256)
    torch.manual_seed(3)
    x = torch.rand(points, 8, device=DEVICE)
    kernel = torch.exp(-torch.cdist(x, x)**2 / 0.5) + 0.1 * torch.eye(points, device=DEVICE)
    b = torch.randn(points, columns, device=DEVICE)

    def run():
        products = 0

        def multiply(v):
            nonlocal products
            products += 1
            return kernel @ v

        return linear_cg(multiply, b, tolerance=1e-4, max_iter=1000, max_tridiag_iter=0), products

    def judged(result):
        z, products = result
        residual = (kernel.double() @ z.double() - b.double()).norm() / b.double().norm()
        return {"iterations": products, "residual": float(residual)}

    return run, judged


def training():
    batch, length, words = (2, 16, 500) if options.tiny else (16, 256, 8192)
    steps = 5 if options.tiny else 200
    torch.manual_seed(4)
    tokens = torch.randint(0, 97, (40, batch, length + 1), device=DEVICE)

    def run():
        torch.manual_seed(5)
        with torch.device(DEVICE):
            model = models.Gpt2(2, 96, 4, words) if options.tiny else models.Gpt2(4, 1024, 16, words)
        optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
        losses = []
        for step in range(steps):
            text = tokens[step % len(tokens)]
            logits = model(text[:, :-1])
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return losses

    def judged(losses):
        return {"loss": statistics.mean(float(loss) for loss in losses[-20:])}

    return run, judged


def timed(run, way):
    torch_op.disable()
    if WAYS[way]:
        torch_op.enable(DEVICE, fp32=WAYS[way])
    sync()
    begin = time.perf_counter()
    result = run()
    sync()
    seconds = time.perf_counter() - begin
    torch_op.disable()
    return result, seconds


def measured(name, program):
    """Each way in turn; the first round warms up."""
    run, judged = program()
    found, seconds = {}, {way: [] for way in WAYS}
    for number in range(options.rounds + 1):
        for way in WAYS:
            result, took = timed(run, way)
            if number == 0:
                found[way] = judged(result)
            else:
                seconds[way].append(took)
    for way in WAYS:
        found[way]["seconds"] = round(statistics.median(seconds[way]), 5)
        figures = ", ".join(f"{key} {value:.6g}" for key, value in found[way].items())
        print(f"{name:12} {way:8} {figures}", flush=True)
    return found


def failures(name, found):
    pytorch, ours, terms = (found[way] for way in WAYS)
    for key in set(terms) - {"seconds"}:
        allowed = 0.02 * pytorch[key] if key in ("iterations", "loss") else 0.2 * pytorch[key]
        allowed = max(allowed, 2 * abs(ours[key] - pytorch[key]))
        if not abs(terms[key] - pytorch[key]) <= allowed:
            yield f"{name}: {key} is {terms[key]:.6g} in f16x3, but {pytorch[key]:.6g} by PyTorch"


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    programs = {"svd_lowrank": svd_lowrank, "cg": cg, "training": training}
    if linear_cg is None:
        print("cg: skipped, linear_operator (of GPyTorch) is not installed")
        del programs["cg"]
    all_found = {name: measured(name, program) for name, program in programs.items()}
    wrong = [line for name, found in all_found.items() for line in failures(name, found)]
    if options.json:
        device = torch.cuda.get_device_name() if DEVICE == "cuda" else "CPU"
        pathlib.Path(options.json).write_text(json.dumps({
            "schema": "tessera.fp32_programs/1", "environment": {
                "command": "tests/python/clients/fp32_programs.py", "commit": options.commit, "device": device,
                "torch": torch.__version__, "date": time.strftime("%Y-%m-%d"), "rounds": options.rounds},
            "programs": all_found}, indent=1) + "\n")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
