"""Matrix products on NVIDIA GPUs, and without one on the CPU.

    import numpy, tessera
    d = tessera.matmul(a, b)                            # NumPy, PyTorch, CuPy or JAX arrays
    d = tessera.gemm(a, b, c, alpha=2, beta=-1)         # 2 a b - c
    y = tessera.gemm(x, w.T, bias=bias, epilogue="gelu")
    w = tessera.pack(b, compute="f16x3")                # weights: tessera.matmul(a, w), many times
    print(tessera.explain(a, b))                        # which kernel, how long, what bounds it

Arrays stay where they are: those on a GPU are multiplied there, on the stream that their library
works on. Arrays in host memory are multiplied by GPU 0 or the CPU, whichever is faster.
"""
from ._calls import explain, gemm, matmul
from ._handles import Device, devices
from ._explain import Choice, Explanation
from ._library import Error, OutOfMemoryError, UnsupportedError, version
from ._packed import Packed, pack
from ._plan import Plan, warm_up

__all__ = ["Choice", "Device", "Error", "Explanation", "OutOfMemoryError", "Packed",
           "Plan", "UnsupportedError", "devices", "explain", "gemm", "matmul", "pack", "version",
           "warm_up"]
__version__ = version()
