"""PyTorch's own products by Tessera, and torch.ops.tessera.matmul, an operator with gradients.

    import tessera.torch_op
    tessera.torch_op.enable()                 # torch.matmul, nn.Linear ... as they are
    tessera.torch_op.enable(fp32="f16x3")     # the same, FP32 on tensor cores
    d = torch.ops.tessera.matmul(a, b)        # or one product, for torch.compile as well

enable() replaces PyTorch's kernels for products of matrices on GPUs (mm, addmm, bmm, baddbmm).
Gradients, autocast and torch.compile are PyTorch's, and products that we do not take run on its own
kernels. Where memory runs out, the error is a RuntimeError that begins "CUDA out of memory".
"""
from __future__ import annotations

import ctypes
import os
import pathlib
import warnings
from typing import Any

import torch

from . import _library
from ._calls import matmul as _matmul

_KEYS = {"cuda": "CUDA", "cpu": "CPU"}
_FP32 = (None, "f32", "tf32", "f16x3")
_SCHEMAS = (
    "matmul(Tensor a, Tensor b) -> Tensor", "matmul_any(Tensor a, Tensor b) -> Tensor",
    "add_product(Tensor addend, Tensor a, Tensor b, float beta, float alpha, int dims) -> Tensor?",
    "add_product_out(Tensor addend, Tensor a, Tensor b, float beta, float alpha, int dims, "
    "Tensor(a!) out) -> bool",
    "pytorch_mm(Tensor a, Tensor b) -> Tensor", "pytorch_bmm(Tensor a, Tensor b) -> Tensor",
    "pytorch_mm_out(Tensor a, Tensor b, Tensor(a!) out) -> Tensor(a!)",
    "pytorch_bmm_out(Tensor a, Tensor b, Tensor(a!) out) -> Tensor(a!)")

_ours = torch.library.Library("tessera", "FRAGMENT")
for _schema in _SCHEMAS:
    _ours.define(_schema, tags=torch.Tag.pt2_compliant_tag)


def _any_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """(..., m, k) by (..., k, n) to (..., m, n); at least two dimensions each."""
    return _matmul(a.detach(), b.detach())


@torch.library.register_fake("tessera::matmul", lib=_ours)
def _(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.dim() < 2 or b.dim() < 2:
        raise ValueError(f"a has shape {tuple(a.shape)}, b has shape {tuple(b.shape)}: at least "
                         "two dimensions each are needed")
    torch._check(a.shape[-1] == b.shape[-2],
                 lambda: f"a has {a.shape[-1]} columns, but b has {b.shape[-2]} rows")
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    dtype = torch.int32 if a.dtype == torch.int8 else torch.promote_types(a.dtype, b.dtype)
    return a.new_empty((*batch, a.shape[-2], b.shape[-1]), dtype=dtype)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(a, b)
        with torch._C._AutoDispatchBelowAutograd():
            return torch.ops.tessera.matmul.default(a, b)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, Any]:
        a, b = ctx.saved_tensors
        product = torch.ops.tessera.matmul.default
        of_a = of_b = None
        if ctx.needs_input_grad[0]:
            of_a = product(gradient, b.mT).sum_to_size(a.shape)
        if ctx.needs_input_grad[1]:
            of_b = product(a.mT, gradient).sum_to_size(b.shape)
        return of_a, of_b


_enabled: _Enabled | None = None
_below_autograd = torch._C._after_autograd_keyset


def _with_gradient(keys: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if (a.requires_grad or b.requires_grad) and torch.is_grad_enabled():
        if _enabled is not None and a.device.type == _enabled.device and a.dtype.is_floating_point:
            return torch.matmul(a, b)  # whose gradients PyTorch computes in C++, by our products
        return _Product.apply(a, b)
    return torch.ops.tessera.matmul.default.redispatch(keys & _below_autograd, a, b)


_ours.impl("matmul", _with_gradient, "Autograd", with_keyset=True)


def _find() -> pathlib.Path:
    given = os.environ.get("TESSERA_TORCH_LIBRARY")
    return pathlib.Path(given or pathlib.Path(_library.lib._name).parent / "libtessera_torch.so")


def _open() -> tuple[Any, str]:
    """The operators in C++, or None and the reason why they cannot be used."""
    try:
        native = ctypes.CDLL(str(_find()))
    except OSError as error:
        return None, str(error)
    for name in ("open", "register", "enable"):
        getattr(native, f"tessera_torch_{name}").restype = ctypes.c_char_p
    why = native.tessera_torch_open(_library.lib._name.encode())
    for key in _KEYS.values():
        why = why or native.tessera_torch_register(key.encode())
    return (None, why.decode()) if why else (native, "")


_native, _why_not = _open()
for _key in _KEYS.values():
    _ours.impl("matmul_any", _any_product, _key)
    if _native is None:
        _ours.impl("matmul", _any_product, _key)


class _Enabled:
    """Our kernels in PyTorch's place, for one dispatch key."""

    def __init__(self, device: str, fp32: str | None):
        self.device, key = device, _KEYS[device]
        keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))
        self.aten = torch.library.Library("aten", "IMPL")
        self.kept = torch.library.Library("tessera", "IMPL")
        with warnings.catch_warnings():  # PyTorch warns of every kernel that is replaced
            warnings.simplefilter("ignore")
            for name in ("addmm", "addmm.out", "baddbmm", "baddbmm.out"):
                theirs = torch.library.get_kernel(f"aten::{name}", key)
                ours = _adding_into if name.endswith(".out") else _adding
                dims = 3 if name.startswith("baddbmm") else 2
                self.aten.impl(name, ours(theirs, keys, dims), key, allow_override=True)
            for name in ("mm", "mm.out", "bmm", "bmm.out"):
                theirs = torch.library.get_kernel(f"aten::{name}", key)
                self.kept.impl("pytorch_" + name.replace(".", "_"), _multiplying(theirs, keys), key)
        why = _native.tessera_torch_enable(key.encode(), _library.COMPUTES[fp32])
        if why:
            self.end()
            raise RuntimeError(why.decode())

    def end(self) -> None:
        _native.tessera_torch_disable()
        self.aten._destroy()
        self.kept._destroy()


def _multiplying(theirs: Any, keys: Any) -> Any:
    def kernel(a: torch.Tensor, b: torch.Tensor, out: Any = None) -> torch.Tensor:
        more = {} if out is None else {"out": out}
        return theirs.call_boxed(keys, a, b, **more)
    return kernel


def _adding(theirs: Any, keys: Any, dims: int) -> Any:
    ours = torch.ops.tessera.add_product.default

    def kernel(self: torch.Tensor, a: torch.Tensor, b: torch.Tensor, *, beta: Any = 1,
               alpha: Any = 1) -> torch.Tensor:
        if type(beta) is not complex and type(alpha) is not complex:
            d = ours(self, a, b, beta, alpha, dims)
            if d is not None:
                return d
        return theirs.call_boxed(keys, self, a, b, beta=beta, alpha=alpha)
    return kernel


def _adding_into(theirs: Any, keys: Any, dims: int) -> Any:
    ours = torch.ops.tessera.add_product_out.default

    def kernel(self: torch.Tensor, a: torch.Tensor, b: torch.Tensor, *, beta: Any = 1,
               alpha: Any = 1, out: torch.Tensor) -> torch.Tensor:
        if type(beta) is not complex and type(alpha) is not complex:
            if ours(self, a, b, beta, alpha, dims, out):
                return out
        return theirs.call_boxed(keys, self, a, b, beta=beta, alpha=alpha, out=out)
    return kernel


def enable(device: str = "cuda", allow_tf32: bool | None = None, fp32: str | None = None) -> None:
    """From now on PyTorch's products of matrices on GPUs are ours.

    fp32 says how these multiply FP32: "f32", "tf32", or "f16x3", as accurate as FP32 and faster.
    Where it is None, FP32 is rounded to TF32 if allow_tf32 is true, or, where that is None, if
    torch.backends.cuda.matmul.allow_tf32 is true now, and is else left to TESSERA_FP32. Call
    enable() anew to change it. device="cpu" replaces the kernels of the CPU. RuntimeError where the
    operators in C++ or PyTorch's interface are missing.
    """
    global _enabled
    if device not in _KEYS:
        raise ValueError(f"device is {device!r}, but must be 'cuda' or 'cpu'")
    if fp32 not in _FP32:
        raise ValueError(f"fp32 is {fp32!r}, but must be one of: {', '.join(map(repr, _FP32))}")
    environment = os.environ.get("TESSERA_FP32") or None
    if environment not in (None, "f32", "f16x3"):
        raise ValueError(f"TESSERA_FP32 is {environment!r} in the environment, but must be 'f32' or 'f16x3'")
    if _native is None:
        raise RuntimeError(f"the operators in C++ cannot be used: {_why_not}")
    if not hasattr(torch.library, "get_kernel"):
        raise RuntimeError(f"PyTorch is {torch.__version__}, but must be 2.9 or later")
    if allow_tf32 is None:
        allow_tf32 = device == "cuda" and torch.backends.cuda.matmul.allow_tf32
    if fp32 is None and allow_tf32:
        fp32 = "tf32"
    disable()
    _enabled = _Enabled(device, fp32)


def disable() -> None:
    """PyTorch's own kernels multiply again."""
    global _enabled
    if _enabled is not None:
        _enabled.end()
    _enabled = None


def counts() -> tuple[int, int]:
    """Products that came to us in this process: those that we computed, those left to PyTorch."""
    both = (ctypes.c_uint64 * 2)()
    if _native is not None:
        _native.tessera_torch_counts(both)
    return both[0], both[1]
