#!/usr/bin/env python3
"""What a call costs the host, in turn with PyTorch, and products of matrices in pinned host memory against
the bound of their copies and their arithmetic. On a GPU.
host_calls.py [LIBRARY] [--program PROGRAM] [--json FILE]"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("library", nargs="?")
parser.add_argument("--json")
parser.add_argument("--commit", default="", help="of the library, for the file")
parser.add_argument("--size", type=int, default=32768, help="of the products in host memory; 0: none")
parser.add_argument("--program", help="build/tessera, whose bench is timed in turn with the one-liner")
options = parser.parse_args()
if options.library:
    os.environ["TESSERA_LIBRARY"] = os.path.abspath(options.library)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../python"))
import torch

import tessera
import tessera.torch_op as torch_op

results = {"command": "tests/python/gpu/host_calls.py", "commit": options.commit, "gpu": torch.cuda.get_device_name(),
           "torch": torch.__version__, "tessera": tessera.__version__, "calls": [], "host_memory": []}


def percentile(times, share):
    return sorted(times)[int(share * (len(times) - 1))]


def host_times(calls, rounds=40, group=100):
    """Microseconds on the host of one call each, in groups of each candidate in random order."""
    times = {name: [] for name in calls}
    for round_ in range(-1, rounds):
        for name in random.sample(list(calls), len(calls)):
            is_ours = getattr(calls[name], "is_enabled", False)
            if is_ours:
                torch_op.enable()
            for _ in range(50 if round_ < 0 else 3):
                calls[name]()
            torch.cuda.synchronize()
            for _ in range(group if round_ >= 0 else 0):
                begin = time.perf_counter_ns()
                calls[name]()
                times[name].append((time.perf_counter_ns() - begin) / 1000)
            torch.cuda.synchronize()
            if is_ours:
                torch_op.disable()
    return times


def with_kernels_of_ours(call):
    """The same call after tessera.torch_op.enable(): its group enables before and disables after."""
    call_ours = lambda: call()  # noqa: E731
    call_ours.is_enabled = True
    return call_ours


def measure_operators():
    """PyTorch's products with its kernels and with ours, and our operator: plain, with gradients, and backward."""
    for dtype in (torch.float32, torch.bfloat16):
        a, b, bias = (torch.randn(shape, device="cuda").to(dtype) for shape in ((64, 64), (64, 64), (64,)))
        x, w = a.clone().requires_grad_(), b.clone().requires_grad_()
        many, linear = a.expand(4, 64, 64).contiguous(), torch.nn.functional.linear
        operator = torch.ops.tessera.matmul
        pairs = {"matmul": lambda: torch.matmul(a, b), "linear": lambda: linear(a, b), "linear with bias": lambda: linear(a, b, bias),
                 "bmm": lambda: torch.bmm(many, many), "matmul, gradients": lambda: torch.matmul(x, w),
                 "matmul out=": lambda: torch.mm(a, b, out=many[0]),
                 "matmul, forward and backward": lambda: torch.matmul(x, w).sum().backward()}
        calls = {f"PyTorch {name}": call for name, call in pairs.items()}
        calls.update({f"ours {name}": with_kernels_of_ours(call) for name, call in pairs.items()})
        calls.update({"ours operator": with_kernels_of_ours(lambda: operator(a, b)),
                      "ours operator, gradients": with_kernels_of_ours(lambda: operator(x, w))})
        calls.update({"torch.ops.tessera.matmul": lambda: operator(a, b), "torch.ops.tessera.matmul, gradients": lambda: operator(x, w),
                      "tessera.matmul": lambda: tessera.matmul(a, b)})
        record(calls, str(dtype)[6:])


def record(calls, dtype):
    for name, times in host_times(calls).items():
        row = {"call": name, "type": dtype, "size": 64, "p50_us": percentile(times, 0.5), "p99_us": percentile(times, 0.99), "n": len(times)}
        results["calls"].append(row)
        print(f"{row['type']:9} {name:38} p50 {row['p50_us']:7.2f} us  p99 {row['p99_us']:7.2f} us", flush=True)


def measure_calls():
    for dtype in (torch.float32, torch.bfloat16):
        a, b = (torch.randn(64, 64, device="cuda").to(dtype) for _ in range(2))
        out = torch.empty_like(a)
        plan = tessera.Plan(a, b, out=out)
        calls = {"torch.matmul": lambda: torch.matmul(a, b), "torch.matmul out=": lambda: torch.matmul(a, b, out=out),
                 "tessera.matmul": lambda: tessera.matmul(a, b), "tessera.matmul out=": lambda: tessera.matmul(a, b, out=out),
                 "tessera.Plan out=": lambda: plan(a, b, out=out)}
        record(calls, str(dtype)[6:])


def seconds(call, repeats=3):
    call()
    best = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        best.append(time.perf_counter() - begin)
    return sorted(best)[len(best) // 2]


def measure_host_memory(n):
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        on_gpu = [torch.empty(n, n, device="cuda", dtype=dtype).uniform_(-1, 1) for _ in range(2)]
        d_gpu = torch.empty(n, n, device="cuda", dtype=dtype)
        a, b, d = (torch.empty(n, n, dtype=dtype, pin_memory=True) for _ in range(3))
        for to, x in zip((a, b), on_gpu):
            to.copy_(x)
        copy_in = seconds(lambda: [x.copy_(to, non_blocking=True) for to, x in zip((a, b), on_gpu)])
        copy_out = seconds(lambda: d.copy_(d_gpu, non_blocking=True))
        arithmetic = seconds(lambda: tessera.matmul(*on_gpu, out=d_gpu))
        rows = d_gpu[:: n // 7].double().cpu()
        del on_gpu, d_gpu
        torch.cuda.empty_cache()
        whole = seconds(lambda: tessera.matmul(a, b, out=d))
        bound = max(copy_in, copy_out, arithmetic)
        is_equal = torch.allclose(d[:: n // 7].double(), rows, rtol=1e-2 if dtype == torch.bfloat16 else 1e-4, atol=0.1)
        row = {"type": str(dtype)[6:], "size": n, "copy_in_s": copy_in, "copy_out_s": copy_out, "arithmetic_s": arithmetic,
               "bound_s": bound, "seconds": whole, "of_bound": bound / whole, "agrees": is_equal}
        results["host_memory"].append(row)
        print(f"{row['type']:9} {n} in pinned host memory: {whole:.3f} s, copies {copy_in:.3f} in and {copy_out:.3f} out, "
              f"arithmetic {arithmetic:.3f}: {100 * bound / whole:.0f} % of the bound{'' if is_equal else ', WRONG'}", flush=True)


def burst(call):
    """Milliseconds of each call on the GPU by bench's burst protocol: 250 ms idle, 3 warm-ups, then calls until 50 ms."""
    torch.cuda.synchronize()
    time.sleep(0.25)
    estimate = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    for i in range(3):
        if i == 2:
            estimate[0].record()
        call()
    estimate[1].record()
    torch.cuda.synchronize()
    count = min(200, max(8, int(50 / estimate[0].elapsed_time(estimate[1]))))
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    time.sleep(0.25)
    for _ in range(3):
        call()
    marks[0].record()
    for mark in marks[1:]:
        call()
        mark.record()
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) for begin, end in zip(marks, marks[1:])]


def bench_ms(dtype, n):
    """What the program's bench measures of the same product, now: milliseconds, and the kernel."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.json")
        subprocess.run([options.program, "bench", "--device", "cuda", "--kernel", "best", "--type", {"float32": "f32", "bfloat16": "bf16"}[dtype],
                        "-m", str(n), "--layout", "NN", "--order", "row", "--mode", "burst", "--rounds", "1", "--no-verify", "--json", path],
                       check=True, stdout=subprocess.DEVNULL)
        with open(path) as file:
            run = json.load(file)["runs"][0]
    return run["time_ms"]["median"], run["kernel"] + "/" + run["config"]


def measure_one_liner(n=4096, rounds=3):
    """In turn with bench, where the program is given: a GPU that has become warm is slower."""
    for dtype in (torch.float32, torch.bfloat16):
        a, b = (torch.empty(n, n, device="cuda", dtype=dtype).uniform_(-1, 1) for _ in range(2))
        out = torch.empty_like(a)
        plan = tessera.Plan(a, b, out=out)
        calls = {"one_line_ms": lambda: tessera.matmul(a, b), "plan_ms": lambda: plan(a, b, out=out)}
        if options.program:
            calls["bench_ms"] = None
        times = {name: [] for name in calls}
        row = {"type": str(dtype)[6:], "size": n, "rounds": rounds}
        for _ in range(rounds):
            for name in random.sample(list(calls), len(calls)):
                if name == "bench_ms":
                    ms, row["kernel"] = bench_ms(row["type"], n)
                    times[name].append(ms)
                else:
                    times[name] += burst(calls[name])
        row.update({name: percentile(all_of, 0.5) for name, all_of in times.items()})
        results.setdefault("one_line", []).append(row)
        print(row, flush=True)


measure_calls()
measure_operators()
measure_one_liner()
if options.size:
    measure_host_memory(options.size)
if options.json:
    with open(options.json, "w") as file:
        json.dump(results, file, indent=1)
