"""torch.ops.tessera.matmul: a PyTorch operator with gradients, for torch.compile as well.

    import tessera.torch_op
    d = torch.ops.tessera.matmul(a, b)
"""
from __future__ import annotations

import torch

from ._calls import matmul as _matmul


@torch.library.custom_op("tessera::matmul", mutates_args=())
def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a @ b, (..., m, k) by (..., k, n) to (..., m, n); at least two dimensions each."""
    return _matmul(a.detach(), b.detach())


@matmul.register_fake
def _(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.dim() < 2 or b.dim() < 2:
        raise ValueError(f"a has shape {tuple(a.shape)}, b has shape {tuple(b.shape)}: at least "
                         "two dimensions each are needed")
    torch._check(a.shape[-1] == b.shape[-2],
                 lambda: f"a has {a.shape[-1]} columns, but b has {b.shape[-2]} rows")
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    dtype = torch.int32 if a.dtype == torch.int8 else a.dtype
    return a.new_empty((*batch, a.shape[-2], b.shape[-1]), dtype=dtype)


def _summed_to(gradient: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """The gradient of an operand that was broadcast."""
    extra = gradient.dim() - len(shape)
    axes = list(range(extra)) + [extra + i for i, extent in enumerate(shape)
                                 if extent == 1 and gradient.shape[extra + i] != 1]
    return (gradient.sum(axes) if axes else gradient).reshape(shape)


def _keep(ctx, inputs, output) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx, gradient):
    a, b = ctx.saved_tensors
    needs_a, needs_b = ctx.needs_input_grad
    of_a = of_b = None
    if needs_a:
        of_a = _summed_to(torch.ops.tessera.matmul(gradient, b.transpose(-2, -1)), a.shape)
    if needs_b:
        of_b = _summed_to(torch.ops.tessera.matmul(a.transpose(-2, -1), gradient), b.shape)
    return of_a, of_b


matmul.register_autograd(_backward, setup_context=_keep)
