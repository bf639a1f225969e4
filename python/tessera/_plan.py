"""A product of fixed shapes, planned once."""
from __future__ import annotations

import ctypes
import sys
from typing import Any, Iterable

from . import _library as c_library
from ._again import is_uncopied, key_of, raw_stream
from ._arrays import array_of, is_on_gpu
from ._explain import Explanation, explain_problem
from ._making import empty_like, kind_of
from ._product import Product
from ._torch import has_written

_ALIGNMENT = 256  # of a workspace


class _Planned:
    """The library's plan, destroyed with the last Plan that uses it."""

    def __init__(self, product: Product, kernel: str | None):
        self.at = ctypes.c_void_p()
        self.options = c_library.PlanOptions(alignment=_alignment_of(product),
                                             kernel=kernel.encode() if kernel else None)
        c_library.check(c_library.lib.tessera_plan_create(self.at, product.handle, product.problem,
                                                          self.options), product.shapes)
        needed = ctypes.c_size_t()
        c_library.check(c_library.lib.tessera_plan_workspace(self.at, needed))
        self.workspace_bytes = needed.value

    def __del__(self) -> None:
        if getattr(self, "at", None):
            c_library.lib.tessera_plan_destroy(self.at)


class Plan:
    """A product of fixed shapes, strides and types, planned once.

        plan = tessera.Plan(a, b)      # a: (m, k), b: (k, n)
        d = plan(a, b)                 # any arrays like these

    Calls may come from several threads and on several streams: each has a workspace of its own,
    which the array's library allocates and reuses as any other array of that stream.

    kernel: of arrays on a GPU, the one to take instead of the fastest by the model: a kernel's name,
    or the `plan` of a choice that explain() lists.
    """

    def __init__(self, a: Any, b: Any, c: Any = None, *, out: Any = None,
                 compute: str | None = None, epilogue: str | None = None, scale: Any = None,
                 bias: Any = None, device: str | None = None, kernel: str | None = None):
        self._settings = (compute, epilogue)
        self._device = device
        product = Product(a, b, c, out, compute, epilogue, device=device, scale=scale, bias=bias)
        if product.batch:
            raise ValueError(f"a plan is for one product, but the shapes are {product.shapes}")
        self._problem = product.problem
        self._handle = product.handle
        self._planned = _Planned(product, kernel)
        # Of tensors on a GPU: what those of a call are compared with, instead of a new description.
        is_plain = all(x is None for x in (c, epilogue, scale, bias)) and is_uncopied(product, a, b)
        self._key = key_of(a, b, product.out.array.source, compute) if is_plain else None

    def __call__(self, a: Any, b: Any, c: Any = None, *, alpha: float = 1.0,
                 beta: float | None = None, scale: Any = None, bias: Any = None,
                 out: Any = None) -> Any:
        """As gemm() with the plan's epilogue, for arrays like the plan's; else ValueError."""
        if c is None and beta not in (None, 0, 0.0):
            raise ValueError(f"beta is {beta}, but c is None")
        if self._key is not None and c is None and scale is None and bias is None:
            key = key_of(a, b, out, self._settings[0])
            if key is not None and key == self._key[:len(key)]:
                return self._run_again(a, b, out, float(alpha))
        if beta is None:
            beta = 0.0 if c is None else 1.0
        product = Product(a, b, c if beta != 0 else None, out, *self._settings,
                          device=self._device, scale=scale, bias=bias)
        if c is None or beta == 0:
            product.problem.ldc = self._problem.ldc
        if bytes(product.problem) != bytes(self._problem):
            raise ValueError(f"these arrays are not like those of the plan: {product.shapes}")
        product.check_gradients()
        self._run(product.arguments(float(alpha), float(beta), {}), a, product.shapes)
        return product.given_back()

    def _run_again(self, a: Any, b: Any, out: Any, alpha: float) -> Any:
        d = a.new_empty(self._key[8], dtype=self._key[10]) if out is None else out
        bytes_, at = self._planned.workspace_bytes, 0
        if bytes_:
            workspace = a.new_empty((bytes_ + _ALIGNMENT,), dtype=sys.modules["torch"].int8)
            at = _aligned(workspace.data_ptr())
        status = c_library.plan_run_packed(self._planned.at, c_library.packed_arguments(
            alpha, a.data_ptr(), b.data_ptr(), d.data_ptr(), at, bytes_, raw_stream(self._key[6])))
        if status:
            c_library.check(status, f"a {self._key[0]}, b {self._key[3]}")
        if out is not None:
            has_written(out)
        return d

    def _run(self, arguments: c_library.Arguments, like: Any, what: str) -> None:
        # WHY a workspace for each call: two streams must not share one. The allocators of PyTorch
        # and CuPy hand memory that is freed to later work of the stream that it was allocated on,
        # and so keep no more than the streams need; JAX's call ends when its product is there.
        bytes_ = self._planned.workspace_bytes
        if bytes_ and kind_of(like) == "numpy" and is_on_gpu(like):
            # Of a library whose allocator is not known: the handle lends one.
            c_library.check(c_library.lib.tessera_gemm_with(
                self._handle, self._problem, self._planned.options, arguments), what)
            return
        if bytes_:
            workspace = empty_like(like, (bytes_ + _ALIGNMENT,), "int8")
            arguments.workspace = _aligned(array_of(workspace, "workspace").address)
            arguments.workspace_bytes = bytes_
        c_library.check(c_library.lib.tessera_plan_run(self._planned.at, arguments), what)

    def __copy__(self) -> "Plan":
        return self

    def __deepcopy__(self, memo: Any) -> "Plan":
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a Plan holds code that is loaded for one GPU, and cannot be pickled")

    def explain(self) -> Explanation:
        """How the plan computes its product."""
        return explain_problem(self._handle, self._problem, self._planned.options)


def warm_up(products: Iterable[tuple[Any, Any]], *, compute: str | None = None,
            device: str | None = None) -> None:
    """Plans products of arrays on a GPU and loads their code: their first calls cost as later ones.

        tessera.warm_up([(x, w1), (h, w2)])     # then matmul(x, w1), gemm(h, w2, c), ...

    The arrays stand for later ones of the same shapes, strides, types and alignment, and are not
    read. Without it, the first product that needs a kernel waits until the driver has loaded it.
    """
    for a, b in products:
        product = Product(a, b, None, None, compute, None, needs_out=False, device=device)
        problem = product.as_batch() if product.batch else None
        options = c_library.PlanOptions(alignment=_alignment_of(product))
        c_library.check(c_library.lib.tessera_warm_up(
            product.handle, problem or product.problem, 1, options, product.stream), product.shapes)


def _aligned(address: int) -> int:
    return (address + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT


def _alignment_of(product: Product) -> int:
    """Bytes that divide the addresses of all operands, at most 16."""
    bits = 16
    for x in (product.a, product.b, product.c, product.out):
        if x:
            bits |= x.array.address
    return bits & -bits
