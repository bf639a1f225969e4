"""matmul, gemm and explain."""
from __future__ import annotations

from typing import Any

from ._again import keep, key_of, matmul_again
from ._explain import Explanation, explain_problem
from ._library import UnsupportedError
from ._packed import Packed, unpacked
from ._product import Product
from ._torch import gemm_with_gradient, has_gradient, product_with_gradient


def matmul(a: Any, b: Any, *, out: Any = None, compute: str | None = None,
           device: str | None = None) -> Any:
    """a @ b, as numpy.matmul: (..., m, k) by (..., k, n) gives (..., m, n).

    Batch dimensions are broadcast; a vector is one row on the left, (k,), or one column on the
    right, and its axis is missing in the result. Two types are promoted as NumPy does; PyTorch's
    tensors have one, as for torch.matmul. bfloat16 and float32 are multiplied as they are, with a
    result in float32. The result is int32 for int8. compute is None (FP32 sums
    for FP32 and smaller types, FP64 for FP64), "tf32", or "f16x3": FP32 from FP16 terms, as
    accurate, on tensor cores. Host arrays are multiplied on the faster of GPU 0 and the CPU;
    device="cpu" and "gpu" name one. PyTorch's gradients are those of torch.matmul, and `out` has
    none. a and b may be what pack() made of a matrix.
    """
    if type(a) is Packed or type(b) is Packed:
        return gemm(a, b, out=out, compute=compute, device=device)
    key = key_of(a, b, out, compute)
    if key is not None:
        again = matmul_again(key, a, b, out)
        if again is not None:
            return again
    if out is None and has_gradient(a, b):
        return product_with_gradient(a, b, compute, device)
    product = Product(a, b, None, out, compute, None, device=device)
    result = product.run(1.0, 0.0)
    keep(key, product, a, b)
    return result


def gemm(a: Any, b: Any, c: Any = None, *, alpha: float = 1.0, beta: float | None = None,
         epilogue: str | None = None, scale: Any = None, bias: Any = None, out: Any = None,
         aux: Any = None, compute: str | None = None, device: str | None = None) -> Any:
    """epilogue(scale * (alpha * a @ b + beta * c) + bias), rounded once.

    (..., m, k) by (..., k, n) with c and the result (..., m, n).
    beta is 1 with a c and 0 without. c is broadcast. out may be c itself. Transposes are views:
    a.T. epilogue is None or the name of an activation (docs/epilogues.md): "relu", "gelu" (by tanh)
    and others. scale and bias have shape (n,), a value for each column, or (m, 1), one for each
    row; where a or b is a vector, a value for each element of the result. bias is of the result's
    type, scale of float32 (or float64, for products of float64). All products of a batch share
    them. aux is an array of the result's shape and type, to which is written what the activation is
    applied to, as a backward pass needs it. PyTorch's gradients are computed in steps, without out
    and aux. a and b may be what pack() made of a matrix.
    """
    if c is None and beta not in (None, 0, 0.0):
        raise ValueError(f"beta is {beta}, but c is None: there is nothing to multiply by beta")
    if beta is None:
        beta = 0.0 if c is None else 1.0
    c = c if beta != 0 else None
    a, b, compute, packed = unpacked(a, b, compute, (c, scale, bias))
    if out is None and aux is None and has_gradient(a, b, c, scale, bias):
        return gemm_with_gradient(a, b, c, scale, bias, alpha=float(alpha), beta=float(beta),
                                  epilogue=epilogue, compute=compute, device=device)
    product = Product(a, b, c, out, compute, epilogue, device=device, scale=scale, bias=bias,
                      packed=packed, aux=aux)
    return product.run(float(alpha), float(beta))


def explain(a: Any, b: Any, *, compute: str | None = None,
            device: str | None = None) -> Explanation:
    """How a @ b would be computed, and why so; nothing is computed. Where a batch is not one call
    of the library, it explains one of its products."""
    product = Product(a, b, None, None, compute, None, needs_out=False, device=device)
    problem = product.as_batch() if product.batch else None
    try:
        return explain_problem(product.handle, problem or product.problem)
    except UnsupportedError:
        return explain_problem(product.handle, product.problem)
