"""Operands that many products read, in the form that kernels read."""
from __future__ import annotations

import ctypes
from typing import Any

from . import _library as c
from ._arrays import array_of
from ._making import empty_like, kind_of
from ._torch import has_gradient

_ALIGNMENT = 256  # of packed operands


class Packed:
    """A matrix on a GPU together with its packed form: made by pack(). `array` is the matrix, which
    must not change."""

    def __init__(self, array: Any, compute: str, is_left: bool):
        from ._product import Product
        self.array, self.compute, self.is_left = array, compute, is_left
        # WHY by itself: the form depends on this operand alone, whatever it is multiplied by.
        self._product = product = Product(array, _transposed(array), None, None, compute, None,
                                          needs_out=False) if is_left else Product(
            _transposed(array), array, None, None, compute, None, needs_out=False)
        if product.gpu is None:
            raise ValueError("the matrix is in host memory, whose operands are read as they are: "
                             "pack one on a GPU")
        if product.batch or len(product.shape) != 2 or product.missing:
            raise ValueError(f"the matrix has shape {tuple(array.shape)}, but must have two "
                             "dimensions")
        if kind_of(array) == "numpy":
            raise TypeError(f"the matrix is a {type(array).__name__}, in whose memory nothing can be "
                            "allocated: pack an array of PyTorch, CuPy or JAX")
        side = c.A if is_left else c.B
        needed = ctypes.c_size_t()
        c.check(c.lib.tessera_packed_bytes(product.handle, product.problem, side, needed),
                product.shapes)
        self.bytes = needed.value
        self._memory = empty_like(array, (self.bytes + _ALIGNMENT,), "int8")
        address = array_of(self._memory, "memory", product.stream).address
        address = (address + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
        self.at = ctypes.c_void_p()
        operand = product.a if is_left else product.b
        c.check(c.lib.tessera_pack(self.at, product.handle, product.problem, side,
                                   operand.array.address, address, self.bytes, product.stream),
                product.shapes)

    def __del__(self) -> None:
        if getattr(self, "at", None):
            c.lib.tessera_packed_destroy(self.at)

    def __repr__(self) -> str:
        side = "left" if self.is_left else "right"
        return (f"Packed({tuple(self.array.shape)}, the {side} operand in {self.compute}, "
                f"{self.bytes} bytes)")

    def __reduce__(self) -> Any:
        raise TypeError("a Packed operand is memory of one GPU, and cannot be pickled: pickle its "
                        "array, and pack that")


def _transposed(x: Any) -> Any:
    return x.mT if hasattr(x, "mT") else x.T


def pack(matrix: Any, *, compute: str, left: bool = False) -> Packed:
    """The right operand of many products, (k, n), or with left=True the left one, (m, k), in the
    form that kernels of this compute type read: matmul and gemm take it instead of the matrix, and
    make it no more. "f16x3" alone has such a form. It takes about as much memory as the matrix.
    Where PyTorch needs a gradient, the matrix is read instead.
    """
    return Packed(matrix, compute, left)


def unpacked(a: Any, b: Any, compute: str | None,
             others: tuple[Any, ...] = ()) -> tuple[Any, Any, str | None, dict[str, Any]]:
    """The matrices, the compute type, and the packed forms as fields of the arguments."""
    forms: dict[str, Any] = {}
    for name, x, is_left in (("a", a, True), ("b", b, False)):
        if not isinstance(x, Packed):
            continue
        if x.is_left != is_left:
            raise ValueError(f"{name} was packed as the {'left' if x.is_left else 'right'} operand, "
                             f"but is the {'left' if is_left else 'right'} one")
        if compute not in (None, x.compute):
            raise ValueError(f"compute is {compute!r}, but {name} was packed for {x.compute!r}")
        compute = x.compute
        forms["packed_" + name] = x.at
    if not forms:
        return a, b, compute, forms
    a, b = (x.array if isinstance(x, Packed) else x for x in (a, b))
    return a, b, compute, {} if has_gradient(a, b, *others) else forms
