"""PyTorch's rules: tensors whose stored bytes are not their values, gradients, legal `out`.

PyTorch is never imported here. Where a tensor is passed, it has been.
"""
from __future__ import annotations

import sys
from typing import Any

_functions: dict[str, Any] = {}


def is_tensor(x: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def stored(x: Any, name: str) -> Any:
    """The tensor, or a copy where its bytes in memory are not yet its values. TypeError for tensors
    that have no such bytes."""
    torch = sys.modules["torch"]
    kind = type(x)
    if kind is not torch.Tensor and kind.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        raise TypeError(f"{name} is a {kind.__name__}, which has no memory of its own: outside of "
                        "torch.ops.tessera.matmul it must be a plain tensor")
    if x.layout is not torch.strided or x.is_nested:
        what = "nested" if x.is_nested else str(x.layout)[6:]
        raise TypeError(f"{name} is a tensor of layout {what}, but must be dense")
    if x._is_zerotensor():
        return torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    if x.is_neg() or x.is_conj():
        return x.resolve_conj().resolve_neg()
    return x


def has_gradient(*operands: Any) -> bool:
    """Whether PyTorch would differentiate a product of these: backwards or forwards."""
    tensors = [x for x in operands if is_tensor(x)]
    if not tensors:
        return False
    torch = sys.modules["torch"]
    if torch.is_grad_enabled() and any(x.requires_grad for x in tensors):
        return True
    forward = sys.modules.get("torch.autograd.forward_ad")
    if forward is None or forward._current_level < 0:
        return False
    return any(forward.unpack_dual(x).tangent is not None for x in tensors)


def check_out(out: Any, *operands: Any) -> None:
    """RuntimeError where torch.matmul refuses `out`, too."""
    if has_gradient(out, *operands):
        raise RuntimeError("out is given, and an argument needs a gradient, but a product that is "
                           "stored in out has none: call it under torch.no_grad() or without out")
    torch = sys.modules["torch"]
    if is_tensor(out) and out.is_inference() and not torch.is_inference_mode_enabled():
        raise RuntimeError("out is a tensor of torch.inference_mode(), which must not change "
                           "outside of it: clone it first")


def has_written(out: Any) -> None:
    """Tells autograd, which then refuses to use what it saved of `out` before."""
    sys.modules["torch"].autograd.graph.increment_version(out)


def _two_dimensions(x: Any, is_left: bool) -> Any:
    return x if x.dim() > 1 else x.unsqueeze(0 if is_left else 1)


def _summed_to(gradient: Any, shape: Any) -> Any:
    """The gradient of an operand that was broadcast."""
    return gradient.sum_to_size(shape) if gradient.shape != shape else gradient


def _product_function() -> Any:
    torch = sys.modules["torch"]
    from ._calls import matmul

    class Product(torch.autograd.Function):
        """a @ b; its gradients are products, too."""

        @staticmethod
        def forward(a: Any, b: Any, compute: str | None, device: str | None) -> Any:
            return matmul(a, b, compute=compute, device=device)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs[:2])
            ctx.save_for_forward(*inputs[:2])
            ctx.how = {"compute": inputs[2], "device": inputs[3]}

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            a, b = ctx.saved_tensors
            left, right = _two_dimensions(a, True), _two_dimensions(b, False)
            if b.dim() == 1:
                gradient = gradient.unsqueeze(-1)
            if a.dim() == 1:
                gradient = gradient.unsqueeze(-2)
            of_a = of_b = None
            if ctx.needs_input_grad[0]:
                of_a = matmul(gradient, right.mT, **ctx.how)
                of_a = _summed_to(of_a, left.shape).reshape(a.shape).to(a.dtype)
            if ctx.needs_input_grad[1]:
                of_b = matmul(left.mT, gradient, **ctx.how)
                of_b = _summed_to(of_b, right.shape).reshape(b.shape).to(b.dtype)
            return of_a, of_b, None, None

        @staticmethod
        def jvp(ctx: Any, of_a: Any, of_b: Any, *_: Any) -> Any:
            a, b = ctx.saved_tensors
            parts = [matmul(of_a, b, **ctx.how)] if of_a is not None else []
            parts += [matmul(a, of_b, **ctx.how)] if of_b is not None else []
            return sum(parts[1:], parts[0])

    return Product


def _activated(name: str | None, x: Any) -> Any:
    """An activation of the library's table by PyTorch, which has all but these under the same name."""
    functional = sys.modules["torch"].nn.functional
    if name in (None, "identity"):
        return x
    if name == "gelu":
        return functional.gelu(x, approximate="tanh")
    return getattr(functional, "gelu" if name == "gelu_erf" else str(name))(x)


def _gemm_function() -> Any:
    torch = sys.modules["torch"]
    from ._calls import gemm, matmul

    def composed(a: Any, b: Any, c: Any, scale: Any, bias: Any, how: dict) -> Any:
        """The same by PyTorch's own operations, whose derivatives it knows."""
        x = how["alpha"] * matmul(a, b, compute=how["compute"], device=how["device"])
        # WHY widened: a scale is of the type that products are summed in.
        wide = x.dtype if scale is None else scale.dtype
        x = x.to(wide) if c is None else x.to(wide) + how["beta"] * c
        x = x if scale is None else x * scale
        x = x if bias is None else x + bias
        return _activated(how["epilogue"], x)

    class Gemm(torch.autograd.Function):
        """The fused product forwards; backwards it is computed once more, in steps."""

        @staticmethod
        def forward(ctx: Any, a: Any, b: Any, c: Any, scale: Any, bias: Any, how: dict) -> Any:
            ctx.save_for_backward(a, b, c, scale, bias)
            ctx.how = how
            return gemm(a, b, c, scale=scale, bias=bias, **how)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            twice = torch.is_grad_enabled()
            with torch.enable_grad():
                # WHY views: an operand that is given twice has two gradients, which PyTorch adds.
                given = [x if x is None else x.view_as(x) for x in ctx.saved_tensors]
                again = composed(*given, ctx.how).to(gradient.dtype)
            needed = [x for x, needs in zip(given, ctx.needs_input_grad) if needs]
            found = iter(torch.autograd.grad(again, needed, gradient, create_graph=twice))
            return *(next(found) if needs else None for needs in ctx.needs_input_grad[:5]), None

    return Gemm


def product_with_gradient(a: Any, b: Any, compute: str | None, device: str | None) -> Any:
    if "product" not in _functions:
        _functions["product"] = _product_function()
    return _functions["product"].apply(a, b, compute, device)


def gemm_with_gradient(a: Any, b: Any, c: Any, scale: Any, bias: Any, **how: Any) -> Any:
    if "gemm" not in _functions:
        _functions["gemm"] = _gemm_function()
    return _functions["gemm"].apply(a, b, c, scale, bias, how)
