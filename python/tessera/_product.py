"""A product as the library is asked for it: one problem, its operands, and the batch around it."""
from __future__ import annotations

import ctypes
from typing import Any, Sequence

from . import _library as c
from ._arrays import Array, bytes_of, current_stream, is_on_gpu
from ._handles import handle_of
from ._making import broadcast_to, finish
from ._operands import Operand, Result, has_columns, line_of, promoted, range_of
from ._torch import check_out, has_gradient, is_tensor

_RESULTS = {"int8": "int32"}  # of a product without `out`; else the operands' type


def _broadcast(left: Sequence[int], right: Sequence[int], shapes: str) -> tuple[int, ...]:
    """The batch dimensions of a product, as NumPy broadcasts them."""
    count = max(len(left), len(right))
    padded = [(1,) * (count - len(one)) + tuple(one) for one in (left, right)]
    out = []
    for x, y in zip(*padded):
        if x != y and 1 not in (x, y):
            raise ValueError(f"batch dimensions do not fit: {shapes}")
        out.append(y if x == 1 else x)
    return tuple(out)


def _place_of(operands: Sequence[Operand]) -> tuple[int | None, str]:
    """Where all operands are: a GPU's number, or None for host memory."""
    first = operands[0]
    for other in operands[1:]:
        if other.array.gpu != first.array.gpu:
            def place(x: Operand) -> str:
                return "host memory" if x.array.gpu is None else f"GPU {x.array.gpu}"
            raise ValueError(f"{first.name} is in {place(first)}, but {other.name} in "
                             f"{place(other)}: all must be in one place")
    shapes = ", ".join(f"{x.name} {x.array.shape}" for x in operands)
    return first.array.gpu, shapes


class Product:
    """One call, ready to run: a problem of two dimensions and the batch around it."""

    def __init__(self, a: Any, b: Any, c_: Any, out: Any, compute: str | None,
                 epilogue: str | None, needs_out: bool = True, device: str | None = None,
                 scale: Any = None, bias: Any = None, packed: dict[str, Any] | None = None,
                 aux: Any = None):
        if compute not in c.COMPUTES:
            raise ValueError(f"compute is {compute!r}, but must be one of: " + ", ".join(
                repr(k) for k in c.COMPUTES))
        if epilogue not in c.ACTIVATIONS:
            raise ValueError(f"epilogue is {epilogue!r}, but must be one of: " + ", ".join(
                repr(k) for k in c.ACTIVATIONS))
        self.packed = packed or {}  # forms of a and b that pack() made: fields of the arguments
        self.stream = current_stream(a) if is_on_gpu(a) else None
        self.a = Operand(a, "a", self.stream)
        self.b = Operand(b, "b", self.stream)
        left, right = self.a.array.shape, self.b.array.shape
        # The axes of the result that the caller does not see: vectors have no second dimension.
        self.missing = (-2,) * (len(left) == 1) + (-1,) * (len(right) == 1)
        self.a.as_matrices(is_left=True)
        self.b.as_matrices(is_left=False)
        shapes = f"a has shape {left}, b has shape {right}"
        (m, k), (k_b, n) = self.a.array.shape[-2:], self.b.array.shape[-2:]
        if k != k_b:
            raise ValueError(f"{shapes}: a has {k} columns, but b has {k_b} rows")
        self.batch = _broadcast(self.a.array.shape[:-2], self.b.array.shape[:-2], shapes)
        self.shape = self.batch + (m, n)
        self._promote(out is not None)
        self.c = self._addend(c_, shapes) if c_ is not None else None
        self.dtype = self._type_of_result()
        self.out = Result(out, a, self.shape, self.missing, self.dtype, self.stream,
                          shapes) if needs_out else None
        sums = "float64" if self.a.array.dtype == "float64" else "float32"
        dtype = self.out.array.dtype if self.out else self.dtype
        self.scale = self._vector(scale, "scale", sums) if scale is not None else None
        self.bias = self._vector(bias, "bias", dtype) if bias is not None else None
        self.aux = self._auxiliary(aux, a, dtype, shapes) if aux is not None else None
        self.given = (a, b, c_, scale, bias)
        operands = [x for x in (self.a, self.b, self.c, self.out, self.aux) if x]
        vectors = [x[0] for x in (self.scale, self.bias) if x]
        self.gpu, self.shapes = _place_of(operands + vectors)
        self.handle = handle_of(*self._place(device))
        self.problem = self._problem(m, n, k, c.COMPUTES[compute], c.ACTIVATIONS[epilogue])

    def _promote(self, is_out_given: bool) -> None:
        dtype = promoted(self.a.array, self.b.array, is_out_given)
        if dtype:
            self.a.convert_to(dtype, is_left=True)
            self.b.convert_to(dtype, is_left=False)

    def _type_of_result(self) -> str:
        own = self.a.array.dtype
        if self.b.array.dtype == "float32" and own == "bfloat16":
            return "float32"
        if self.c and self.c.array.dtype == "float32" and own in ("float16", "bfloat16"):
            return "float32"
        return _RESULTS.get(own, own)

    def _addend(self, c_: Any, shapes: str) -> Operand:
        """c as it is, or a copy that is broadcast to the shape of the result."""
        operand = Operand(c_, "c", self.stream)
        given, wanted = tuple(operand.array.shape), self.visible()
        if given == wanted == self.shape:
            return operand.as_matrices()
        if len(given) > len(wanted) or any(x not in (1, y) for x, y in zip(given[::-1],
                                                                           wanted[::-1])):
            raise ValueError(f"c has shape {given}, but {shapes}: it must be {wanted}, or "
                             "broadcast to it")
        full = broadcast_to(operand.seen, wanted, "c").reshape(self.shape)
        return Operand(full, "c", self.stream).as_matrices()

    def _kind_of_vector(self, shape: tuple[int, ...], name: str) -> int:
        """Per row or per column, as NumPy broadcasts it to the result that the caller sees."""
        m, n = self.shape[-2:]
        kinds = {(): {(n,): c.PER_COLUMN, (1, n): c.PER_COLUMN, (m, 1): c.PER_ROW},
                 (-2,): {(n,): c.PER_COLUMN, (1,): c.PER_ROW},
                 (-1,): {(m,): c.PER_ROW, (1,): c.PER_COLUMN},
                 (-2, -1): {(): c.PER_COLUMN}}[self.missing]
        kind = kinds.get(tuple(shape))
        if kind is not None:
            return kind
        rules = {(): f"{(n,)}, a value for each column of the result, or {(m, 1)}, one for each "
                     "row",
                 (-2,): f"{(n,)}, a value for each element of the result, or (1,), one for all",
                 (-1,): f"{(m,)}, a value for each element of the result, or (1,), one for all",
                 (-2, -1): "(), since the result is one number"}
        raise ValueError(f"{name} has shape {tuple(shape)}, but must be {rules[self.missing]}")

    def _vector(self, source: Any, name: str, dtype: str) -> tuple[Operand, int]:
        """A vector of the epilogue, and whether it is per row or per column of the result."""
        operand = Operand(source, name, self.stream)
        x = operand.array
        kind = self._kind_of_vector(x.shape, name)
        if x.dtype != dtype:
            raise TypeError(f"{name} has elements of type {x.dtype}, but must have {dtype}, "
                            + ("in which products are summed" if name == "scale" else
                               "as the result"))
        if any(step != 1 for step, extent in zip(x.strides, x.shape) if extent > 1):
            operand.array = operand.copied()
        return operand, kind

    def _auxiliary(self, aux: Any, like: Any, dtype: str, shapes: str) -> Result:
        """The caller's array for the result before its activation."""
        x = Result(aux, like, self.shape, self.missing, dtype, self.stream, shapes, "aux")
        if x.array.dtype != dtype:
            raise TypeError(f"aux has elements of type {x.array.dtype}, but must have {dtype}, as "
                            "the result")
        if self.out and line_of(x.array)[0] != line_of(self.out.array)[0]:  # type: ignore[index]
            raise ValueError("rows of one of out and aux are adjacent, and columns of the other, "
                             f"but both must be of one order: {shapes}")
        return x

    def check_gradients(self) -> None:
        """RuntimeError for a product that PyTorch would have to differentiate, and cannot."""
        if not self.out or not any(is_tensor(x) for x in (self.out.given, *self.given)):
            return
        if self.aux and is_tensor(self.aux.given):
            check_out(self.aux.given, *self.given)
        if self.out.given is not None:
            check_out(self.out.given, *self.given)
        elif has_gradient(*self.given):
            raise RuntimeError("an argument needs a gradient, but a plan computes none: call it "
                               "under torch.no_grad(), or matmul or gemm instead")

    def visible(self) -> tuple[int, ...]:
        """The shape of the result without the axes that vectors had been given."""
        return tuple(n for axis, n in enumerate(self.shape, -len(self.shape))
                     if axis not in self.missing)

    def _place(self, device: str | None) -> tuple[int, int]:
        places = {None: (c.ANY_PLACE, c.FASTER_SIDE), "cpu": (c.CPU, c.FASTER_SIDE),
                  "gpu": (0, c.GPU_SIDE)}
        if self.gpu is not None:
            return self.gpu, c.FASTER_SIDE
        if device not in places:
            raise ValueError(f"device is {device!r}, but must be None, 'cpu' or 'gpu'")
        return places[device]

    def _problem(self, m: int, n: int, k: int, compute: int, activation: int) -> c.Problem:
        def kind(x: Operand) -> int:
            return c.TYPES[x.array.dtype]
        d = self.out.array if self.out else None
        is_col = d is not None and not line_of(d)[0]  # type: ignore[index]
        order = c.COLUMN_MAJOR if is_col else c.ROW_MAJOR

        def op_and_ld(x: Array) -> tuple[int, int]:
            has_rows, ld = line_of(x)  # type: ignore[misc]
            if is_col and has_rows and has_columns(x):
                return 0, max(x.strides[-1], x.shape[-2], 1)
            return int(has_rows == is_col), ld

        op_a, lda = op_and_ld(self.a.array)
        op_b, ldb = op_and_ld(self.b.array)
        type_d = kind(self.out) if self.out else c.TYPES[self.dtype]
        problem = c.Problem(m=m, n=n, k=k, type_a=kind(self.a), type_b=kind(self.b),
                            type_c=kind(self.c) if self.c else type_d, type_d=type_d,
                            compute=compute, order=order, op_a=op_a, op_b=op_b, lda=lda, ldb=ldb,
                            activation=activation,
                            scale=self.scale[1] if self.scale else 0,
                            bias=self.bias[1] if self.bias else 0,
                            memory=c.DEVICE_MEMORY if self.gpu is not None else c.HOST_MEMORY)
        if d is not None:
            problem.ldd = line_of(d)[1]  # type: ignore[index]
        problem.ldc = problem.ldd
        if self.aux:
            problem.auxiliary = c.BEFORE_ACTIVATION
            problem.ldx = line_of(self.aux.array)[1]  # type: ignore[index]
        if self.c:
            op_c, ldc = op_and_ld(self.c.array)
            if op_c:
                self.c.copy_in_order(is_col)
                op_c, ldc = op_and_ld(self.c.array)
            problem.ldc = ldc
        return problem

    def arguments(self, alpha: float, beta: float, at: dict[str, int]) -> c.Arguments:
        def address(x: Operand | None) -> int | None:
            return x.array.address + at.get(x.name, 0) if x else None
        return c.Arguments(alpha=alpha, beta=beta, a=address(self.a), b=address(self.b),
                           c=address(self.c), d=address(self.out), stream=self.stream,
                           scale=address(self.scale[0]) if self.scale else None,
                           bias=address(self.bias[0]) if self.bias else None,
                           x=address(self.aux), **self.packed)

    def run(self, alpha: float, beta: float) -> Any:
        self.check_gradients()
        what = self.shapes
        if not self.batch:
            arguments = self.arguments(alpha, beta, {})
            c.check(c.lib.tessera_gemm_with(self.handle, self.problem, None, arguments), what)
            return self.given_back()
        if self._run_as_batch(alpha, beta, what):
            return self.given_back()
        self._check_apart()
        for at in self._offsets():
            arguments = self.arguments(alpha, beta, at)
            c.check(c.lib.tessera_gemm_with(self.handle, self.problem, None, arguments), what)
        return self.given_back()

    def as_batch(self) -> c.Problem | None:
        """One problem of all products, where each operand has one stride."""
        steps = {"out": self.shape[-2] * self.shape[-1]}
        for x in (self.a, self.b, self.c, self.out, self.aux):
            if not x:
                continue
            strides = x.batch_strides(self.batch)
            for axis in range(len(self.batch) - 1):
                if strides[axis] != strides[axis + 1] * self.batch[axis + 1]:
                    return None
            steps[x.name] = strides[-1]
        problem = c.Problem()
        ctypes.pointer(problem)[0] = self.problem
        problem.batch, problem.batch_count = c.STRIDED, 1
        for extent in self.batch:
            problem.batch_count *= extent
        problem.stride_a, problem.stride_b = steps["a"], steps["b"]
        problem.stride_c, problem.stride_d = steps.get("c", 0), steps["out"]
        problem.stride_x = steps.get("aux", 0)
        return problem

    def _run_as_batch(self, alpha: float, beta: float, what: str) -> bool:
        """One call for all products; False: the library takes no such call."""
        problem = self.as_batch()
        if problem is None:
            return False
        arguments = self.arguments(alpha, beta, {})
        status = c.lib.tessera_gemm_with(self.handle, problem, None, arguments)
        if status == c.UNSUPPORTED:
            return False
        c.check(status, what)
        return True

    def _check_apart(self) -> None:
        """ValueError where one product might write what another one reads."""
        assert self.out
        for out in (self.out, self.aux):
            if not out:
                continue
            first, last = range_of(out.array)
            for x in (self.a, self.b, self.c):
                if not x or (x is self.c and out is self.out and x.array.address == first
                             and x.array.strides == out.array.strides):
                    continue
                low, high = range_of(x.array)
                if low <= last and first <= high:
                    raise ValueError(f"{out.name} may share memory with {x.name}, which other "
                                     f"products of the batch read: {self.shapes}")

    def _offsets(self) -> Any:
        """For each product, the bytes from the first one of each operand."""
        operands = [x for x in (self.a, self.b, self.c, self.out, self.aux) if x]
        strides = [[s * bytes_of(x.array.dtype) for s in x.batch_strides(self.batch)]
                   for x in operands]
        total = 1
        for extent in self.batch:
            total *= extent
        for index in range(total):
            at, rest = {x.name: 0 for x in operands}, index
            for axis in reversed(range(len(self.batch))):
                rest, here = divmod(rest, self.batch[axis])
                for x, s in zip(operands, strides):
                    at[x.name] += here * s[axis]
            yield at

    def given_back(self) -> Any:
        assert self.out
        finish(self.out.array.source, self.stream)
        if self.aux:
            self.aux.given_back()
        return self.out.given_back()
