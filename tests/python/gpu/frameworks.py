#!/usr/bin/env python3
"""Products of arrays of NumPy, PyTorch, CuPy and JAX on a GPU, against their own matmul.
frameworks.py [LIBRARY]

Each D must be within the bound of its type of the product in FP64: |d - ref| <= c u (|A| |B|), c = 2 k
for values of both signs is far beyond what any order of sums gives, so c = min(k + 3, 4 + 2 sqrt(k)); and
within twice that of the other library's D. What is not installed is said, and is no failure."""
import os
import sys
import threading

if len(sys.argv) > 1:
    os.environ["TESSERA_LIBRARY"] = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../python"))
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import numpy as np

import tessera

SHAPES = [(64, 64, 64), (257, 129, 1001), (1, 700, 300), (1024, 512, 768), (33, 1, 65)]
UNITS = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
failures = []


def within(name, ours, theirs, a, b, dtype):
    """All as FP64 NumPy arrays."""
    k = a.shape[-1]
    sums = 2.0**-53 if dtype == "float64" else 2.0**-24
    ref, size = a @ b, abs(a) @ abs(b)
    bound = min(k + 3, 4 + 2 * k**0.5) * sums * size + 2 * UNITS[dtype] * abs(ref) + 1e-300
    worst = float((abs(ours - ref) / bound).max())
    apart = float((abs(ours - theirs) / (2 * bound)).max())
    report(name, worst <= 1 and apart <= 1, f"error {worst:.3f} of the bound, {apart:.3f} from the other library")


def report(name, is_right, detail=""):
    print(f"{'ok    ' if is_right else 'FAILED'}  {name:52} {detail}", flush=True)
    if not is_right:
        failures.append(name)


def numbers(m, n, k, seed=1):
    random = np.random.default_rng(seed)
    return random.uniform(-1, 1, (m, k)), random.uniform(-1, 1, (k, n))


def numpy_arrays():
    for dtype in ("float64", "float32"):
        for m, n, k in SHAPES:
            a, b = (x.astype(dtype) for x in numbers(m, n, k))
            within(f"numpy {dtype} {m}x{n}x{k}", tessera.matmul(a, b).astype("f8"),
                   (a @ b).astype("f8"), a.astype("f8"), b.astype("f8"), dtype)
    a, b = numbers(300, 200, 100)
    batch = np.stack([a, 2 * a])
    within("numpy batch, broadcast", tessera.matmul(batch, b)[1], (batch @ b)[1], 2 * a, b, "float64")


def torch_arrays():
    import torch
    import tessera.torch_op  # noqa: F401
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False

    def host(x):
        return x.detach().double().cpu().numpy()

    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        name = str(dtype)[6:]
        for m, n, k in SHAPES:
            a, b = (torch.tensor(x, device="cuda").to(dtype) for x in numbers(m, n, k))
            within(f"torch eager {name} {m}x{n}x{k}", host(tessera.matmul(a, b)), host(a @ b), host(a), host(b), name)
            turned = b.T.contiguous().T
            within(f"torch transposed {name} {m}x{n}x{k}", host(tessera.matmul(a, turned)), host(a @ b), host(a), host(b), name)
    torch_gradients(torch)
    torch_compiled(torch, host)
    torch_graph(torch, host)
    torch_streams(torch)
    torch_plan_on_streams(torch)


def torch_gradients(torch):
    a, b = (torch.tensor(x, device="cuda").requires_grad_() for x in numbers(70, 50, 90))
    torch.ops.tessera.matmul(a, b).square().sum().backward()
    ours = a.grad.clone(), b.grad.clone()
    a.grad = b.grad = None
    (a @ b).square().sum().backward()
    report("torch autograd float64", all(torch.allclose(x, y, rtol=1e-12, atol=1e-12)
                                         for x, y in zip(ours, (a.grad, b.grad))))
    report("torch gradcheck", torch.autograd.gradcheck(
        torch.ops.tessera.matmul, (a[:5, :4].detach().requires_grad_(), b[:4, :3].detach().requires_grad_())))


def torch_compiled(torch, host):
    def model(x, y):
        return torch.relu(torch.ops.tessera.matmul(x, y)) + 1

    x, y = (torch.tensor(one, device="cuda").float() for one in numbers(128, 96, 200))
    wanted = torch.relu(x.double() @ y.double()) + 1
    for backend in ("inductor", "aot_eager"):
        try:
            compiled = torch.compile(model, backend=backend, fullgraph=True)
            report(f"torch.compile, {backend}", torch.allclose(compiled(x, y).double(), wanted, rtol=1e-4, atol=1e-4))
        except Exception as error:  # noqa: BLE001: no compiler on the machine, say
            print(f"-       torch.compile, {backend}: {type(error).__name__}: {str(error).splitlines()[0][:90]}")


def torch_graph(torch, host):
    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        a, b = (torch.tensor(x, device="cuda").to(dtype) for x in numbers(1000, 700, 900, 3))
        out, graph = torch.empty(1000, 700, device="cuda", dtype=dtype), torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            tessera.matmul(a, b, out=out)
        for seed in (4, 5):
            for to, x in zip((a, b), numbers(1000, 700, 900, seed)):
                to.copy_(torch.tensor(x, device="cuda").to(dtype))
            graph.replay()
            torch.cuda.synchronize()
            within(f"torch CUDA graph {str(dtype)[6:]}, replay {seed - 3}", host(out), host(a @ b), host(a), host(b), str(dtype)[6:])


def torch_streams(torch):
    a, b = (torch.tensor(x, device="cuda").float() for x in numbers(777, 555, 2222, 7))
    wanted = tessera.matmul(a, b)
    torch.cuda.synchronize()
    wrong = []

    def work(index):
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(50):
                if not torch.equal(tessera.matmul(a, b), wanted):
                    wrong.append(index)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.cuda.synchronize()
    report("torch, 8 threads on 8 streams, 400 equal products", not wrong, f"{len(wrong)} differ")


def torch_plan_on_streams(torch):
    """One plan that needs a workspace, on several streams at the same time, each with operands of its own."""
    draw = lambda *shape: torch.randint(-3, 4, shape, device="cuda").float()  # noqa: E731
    pairs = [(draw(256, 30000), draw(30000, 256)) for _ in range(4)]
    plan = tessera.Plan(*pairs[0])
    wanted = [tessera.matmul(a, b) for a, b in pairs]
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in pairs]
    before, outs = torch.cuda.memory_reserved(), []
    for _ in range(100):
        for i, (stream, (a, b)) in enumerate(zip(streams, pairs)):
            with torch.cuda.stream(stream):
                outs.append((i, plan(a, b)))
    torch.cuda.synchronize()
    wrong = sum(not torch.equal(d, wanted[i]) for i, d in outs)
    report("torch, one plan on 4 streams, 400 products", wrong == 0 and plan._planned.workspace_bytes > 0,
           f"{wrong} differ; workspace {plan._planned.workspace_bytes} bytes")
    grown = torch.cuda.memory_reserved() - before - sum(d.numel() * 4 for _, d in outs)
    report("torch, its workspaces", grown < 8 * plan._planned.workspace_bytes + (64 << 20), f"{grown} bytes more are reserved")


def cupy_plan_on_streams(cupy):
    pairs = [tuple(cupy.random.randint(-3, 4, shape).astype("float32") for shape in ((256, 30000), (30000, 256))) for _ in range(3)]
    plan = tessera.Plan(*pairs[0])
    wanted = [tessera.matmul(a, b) for a, b in pairs]
    cupy.cuda.Device().synchronize()
    streams, outs = [cupy.cuda.Stream(non_blocking=True) for _ in pairs], []
    for _ in range(50):
        for i, (stream, (a, b)) in enumerate(zip(streams, pairs)):
            with stream:
                outs.append((i, plan(a, b)))
    cupy.cuda.Device().synchronize()
    wrong = sum(not bool((d == wanted[i]).all()) for i, d in outs)
    report("cupy, one plan on 3 streams, 150 products", wrong == 0, f"{wrong} differ")


def cupy_arrays():
    import cupy
    for dtype in ("float64", "float32", "float16"):
        for m, n, k in SHAPES:
            a, b = (cupy.asarray(x.astype(dtype)) for x in numbers(m, n, k))
            within(f"cupy {dtype} {m}x{n}x{k}", cupy.asnumpy(tessera.matmul(a, b)).astype("f8"),
                   cupy.asnumpy(a @ b).astype("f8"), cupy.asnumpy(a).astype("f8"), cupy.asnumpy(b).astype("f8"), dtype)
    with cupy.cuda.Stream(non_blocking=True):
        a, b = (cupy.asarray(x) for x in numbers(500, 400, 300))
        report("cupy, a stream of its own", bool(cupy.allclose(tessera.matmul(a, b), a @ b, rtol=1e-12)))
    cupy_plan_on_streams(cupy)


def jax_arrays():
    import jax
    jax.config.update("jax_enable_x64", True)
    for dtype in ("float64", "float32", "bfloat16"):
        for m, n, k in SHAPES:
            a, b = (jax.numpy.asarray(x).astype(dtype) for x in numbers(m, n, k))
            # WHY: in bfloat16 JAX sums thin products in bfloat16, too, which is beyond the bound.
            theirs = jax.numpy.matmul(a.astype("float64"), b.astype("float64")).astype(dtype)
            ours = tessera.matmul(a, b)
            within(f"jax {dtype} {m}x{n}x{k}", np.asarray(ours).astype("f8"), np.asarray(theirs).astype("f8"),
                   np.asarray(a).astype("f8"), np.asarray(b).astype("f8"), dtype)
    a, still = jax.numpy.ones((3, 3)), jax.numpy.zeros((3, 3))
    try:
        tessera.matmul(a, a, out=still)
        report("jax, an array as out", False, "it was accepted")
    except ValueError as refused:
        report("jax, an array as out", "immutable" in str(refused) and not still.any(), str(refused))
    wide = tessera.matmul(a.astype("bfloat16"), a.astype("float32"))
    report("jax, two types", str(wide.dtype) == "float32" and bool((wide == 3).all()))


def main():
    found = tessera.devices()
    print(f"tessera {tessera.__version__}: {[one.name for one in found]}")
    if not found:
        sys.exit("skipped: there is no GPU")
    for part in (numpy_arrays, torch_arrays, cupy_arrays, jax_arrays):
        try:
            part()
        except ImportError as error:
            print(f"-       {part.__name__}: {error}")
        except Exception as error:  # noqa: BLE001: the next library is tried all the same
            report(f"{part.__name__}: {type(error).__name__}: {error}", False)
    print(f"{len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
