"""A product of fixed shapes, planned once."""
from __future__ import annotations

import ctypes
from typing import Any

from . import _library as c_library
from ._again import is_uncopied, key_of, raw_stream
from ._arrays import array_of, empty_like
from ._calls import _Product
from ._explain import Explanation, explain_problem


class Plan:
    """A product of fixed shapes, strides and types, planned once.

        plan = tessera.Plan(a, b)      # a: (m, k), b: (k, n)
        d = plan(a, b)                 # any arrays like these
    """

    def __init__(self, a: Any, b: Any, c: Any = None, *, out: Any = None,
                 compute: str | None = None, epilogue: str | None = None, scale: Any = None,
                 bias: Any = None, device: str | None = None):
        self._settings = (compute, epilogue)
        self._device = device
        product = _Product(a, b, c, out, compute, epilogue, device=device, scale=scale, bias=bias)
        if product.batch:
            raise ValueError(f"a plan is for one product, but the shapes are {product.shapes}")
        self._problem = product.problem
        self._library = c_library
        self._handle = product.handle
        self._plan = ctypes.c_void_p()
        options = c_library.PlanOptions(alignment=_alignment_of(product))
        c_library.check(c_library.lib.tessera_plan_create(self._plan, product.handle,
                                                          product.problem, options),
                        product.shapes)
        needed = ctypes.c_size_t()
        c_library.check(c_library.lib.tessera_plan_workspace(self._plan, needed))
        self._workspace = None
        self._workspace_at: int | None = None
        self._workspace_bytes = needed.value
        if needed.value:
            self._workspace = empty_like(a, (needed.value + 256,), "int8")
            address = array_of(self._workspace, "workspace").address
            self._workspace_at = (address + 255) // 256 * 256
        # Of tensors on a GPU: what those of a call are compared with, instead of a new description.
        is_plain = all(x is None for x in (c, epilogue, scale, bias)) and is_uncopied(product, a, b)
        self._key = key_of(a, b, product.result, compute) if is_plain else None

    def __call__(self, a: Any, b: Any, c: Any = None, *, alpha: float = 1.0,
                 beta: float | None = None, scale: Any = None, bias: Any = None,
                 out: Any = None) -> Any:
        """As gemm() with the plan's epilogue, for arrays like those of the plan; else ValueError."""
        if c is None and beta not in (None, 0, 0.0):
            raise ValueError(f"beta is {beta}, but c is None")
        if self._key is not None and c is None and scale is None and bias is None:
            key = key_of(a, b, out, self._settings[0])
            if key is not None and key == self._key[:len(key)]:
                d = a.new_empty(self._key[8], dtype=self._key[10]) if out is None else out
                return self._run_again(a, b, d, float(alpha))
        if beta is None:
            beta = 0.0 if c is None else 1.0
        product = _Product(a, b, c if beta != 0 else None, out, *self._settings,
                           device=self._device, scale=scale, bias=bias)
        if c is None or beta == 0:
            product.problem.ldc = self._problem.ldc
        if bytes(product.problem) != bytes(self._problem):
            raise ValueError(f"these arrays are not like those of the plan: {product.shapes}")
        arguments = product.arguments(float(alpha), float(beta), {})
        arguments.workspace = self._workspace_at
        arguments.workspace_bytes = self._workspace_bytes
        self._library.check(self._library.lib.tessera_plan_run(self._plan, arguments),
                            product.shapes)
        return product._given_back()

    def _run_again(self, a: Any, b: Any, d: Any, alpha: float) -> Any:
        arguments = self._library.Arguments(
            alpha=alpha, a=a.data_ptr(), b=b.data_ptr(), d=d.data_ptr(),
            workspace=self._workspace_at, workspace_bytes=self._workspace_bytes,
            stream=raw_stream(self._key[6]))
        status = self._library.lib.tessera_plan_run(self._plan, arguments)
        if status:
            self._library.check(status, f"a {tuple(a.shape)}, b {tuple(b.shape)}")
        return d

    def explain(self) -> Explanation:
        """How the plan computes its product."""
        return explain_problem(self._handle, self._problem)

    def __del__(self) -> None:
        if getattr(self, "_plan", None):
            self._library.lib.tessera_plan_destroy(self._plan)


def _alignment_of(product: _Product) -> int:
    """Bytes that divide the addresses of all operands, at most 16."""
    bits = 16
    for x in (product.a, product.b, product.c, product.out):
        if x:
            bits |= x.array.address
    return bits & -bits
