"""matmul, gemm and explain."""
from __future__ import annotations

import ctypes
from typing import Any, Sequence

from . import _library as c
from ._again import keep, key_of, matmul_again
from ._arrays import (Array, array_of, broadcast_to, check_writable, contiguous,
                      contiguous_strides, current_stream, empty_like, finish, is_on_gpu)
from ._explain import Explanation, explain_problem
from ._handles import handle_of

_RESULTS = {"int8": "int32"}  # of a product without `out`; else the operands' type
_EPILOGUES = {None: 0, "identity": 0, "relu": 1, "gelu": 2, "gelu_erf": 3}


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


def _line(x: Array) -> tuple[bool, int] | None:
    """(rows are contiguous, ld), or else columns are; None: neither. Thin matrices: rows."""
    rows, cols = x.shape[-2:]
    by_row, by_col = x.strides[-2:]
    if (by_col == 1 or cols <= 1) and (by_row >= cols or rows <= 1):
        return True, max(by_row, cols, 1)
    if (by_row == 1 or rows <= 1) and (by_col >= rows or cols <= 1):
        return False, max(by_col, rows, 1)
    return None


def _bytes_of(dtype: str) -> int:
    return {"float64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2}.get(dtype, 1)


def _range_of(x: Array) -> tuple[int, int]:
    """The addresses of its first and last byte; strides are not negative."""
    last = sum((n - 1) * s for n, s in zip(x.shape, x.strides)) + 1
    return x.address, x.address + last * _bytes_of(x.dtype) - 1


def _has_columns(x: Array) -> bool:
    """Whether the columns are contiguous, too, or alone."""
    rows, cols = x.shape[-2:]
    by_row, by_col = x.strides[-2:]
    return (by_row == 1 or rows <= 1) and (by_col >= rows or cols <= 1)


class _Operand:
    """A matrix, or a batch of them: (..., rows, cols)."""

    def __init__(self, source: Any, name: str, stream: int | None, may_copy: bool = True):
        array = array_of(source, name, stream)
        if array.dtype not in c.TYPES:
            raise TypeError(f"{name} has elements of type {array.dtype}, but must have one of: "
                            + ", ".join(c.TYPES))
        self.name, self.array, self.may_copy, self.stream = name, array, may_copy, stream

    def as_matrices(self, is_left: bool | None = None) -> "_Operand":
        """A vector becomes one row (left) or one column; then rows or columns are adjacent."""
        x = self.array
        if 0 in x.shape:
            x = x.with_axes(x.shape, contiguous_strides(x.shape))
        if len(x.shape) == 0 or (len(x.shape) == 1 and is_left is None):
            raise ValueError(f"{self.name} has shape {x.shape}, but must have at least "
                             f"{1 if is_left is not None else 2} dimensions")
        if len(x.shape) == 1:
            step = x.strides[0]
            if step <= 0 and x.shape[0] > 1:
                x = self._copied()
                step = 1
            shape, strides = (((1, x.shape[0]), (x.shape[0] * step, step)) if is_left else
                              ((x.shape[0], 1), (step, 1)))
            x = x.with_axes(shape, strides)
        if _line(x) is None or any(s < 0 for s in x.strides):
            if not self.may_copy:
                raise ValueError(f"{self.name} has strides {x.strides} in elements, but rows or "
                                 "columns must be adjacent")
            x = self._copied()
            if len(x.shape) == 1:  # a vector with gaps
                x = x.with_axes(*(((1, x.shape[0]), (x.shape[0], 1)) if is_left else
                                  ((x.shape[0], 1), (1, 1))))
        self.array = x
        return self

    def _copied(self) -> Array:
        return array_of(contiguous(self.array.source), self.name, self.stream)

    def batch_strides(self, batch: tuple[int, ...]) -> tuple[int, ...]:
        shape = self.array.shape[:-2]
        strides = self.array.strides[:-2]
        missing = len(batch) - len(shape)
        return (0,) * missing + tuple(0 if n == 1 else s for n, s in zip(shape, strides))


def _place_of(operands: Sequence[_Operand]) -> tuple[int | None, str]:
    """Where all operands are: a GPU's number, or None for host memory."""
    first = operands[0]
    for other in operands[1:]:
        if other.array.gpu != first.array.gpu:
            def place(x: _Operand) -> str:
                return "host memory" if x.array.gpu is None else f"GPU {x.array.gpu}"
            raise ValueError(f"{first.name} is in {place(first)}, but {other.name} in "
                             f"{place(other)}: all must be in one place")
    shapes = ", ".join(f"{x.name} {x.array.shape}" for x in operands)
    return first.array.gpu, shapes


def _require_one_precision(a: str, b: str) -> None:
    """WHY: NumPy would widen the smaller type; here sums and result would be of a's."""
    if (a == "float64") == (b == "float64"):
        return
    narrow = "a" if b == "float64" else "b"
    raise TypeError(f"a has elements of type {a}, b of {b}, but float64 is multiplied by float64 "
                    f"alone: convert {narrow}, as {narrow}.astype('float64') does in NumPy")


class _Product:
    """One call, ready to run: a problem of two dimensions and the batch around it."""

    def __init__(self, a: Any, b: Any, c_: Any, out: Any, compute: str | None,
                 epilogue: str | None, needs_out: bool = True, device: str | None = None,
                 scale: Any = None, bias: Any = None):
        if compute not in c.COMPUTES:
            raise ValueError(f"compute is {compute!r}, but must be one of: " + ", ".join(
                repr(k) for k in c.COMPUTES))
        if epilogue not in _EPILOGUES:
            raise ValueError(f"epilogue is {epilogue!r}, but must be one of: " + ", ".join(
                repr(k) for k in _EPILOGUES))
        self.stream = current_stream(a) if is_on_gpu(a) else None
        self.a = _Operand(a, "a", self.stream)
        self.b = _Operand(b, "b", self.stream)
        left, right = self.a.array.shape, self.b.array.shape
        self.drops_row, self.drops_col = len(left) == 1, len(right) == 1
        self.a.as_matrices(is_left=True)
        self.b.as_matrices(is_left=False)
        _require_one_precision(self.a.array.dtype, self.b.array.dtype)
        shapes = f"a has shape {left}, b has shape {right}"
        (m, k), (k_b, n) = self.a.array.shape[-2:], self.b.array.shape[-2:]
        if k != k_b:
            raise ValueError(f"{shapes}: a has {k} columns, but b has {k_b} rows")
        self.batch = _broadcast(self.a.array.shape[:-2], self.b.array.shape[:-2], shapes)
        self.shape = self.batch + (m, n)
        self.c = self._addend(c_, shapes) if c_ is not None else None
        self.dtype = _RESULTS.get(self.a.array.dtype, self.a.array.dtype)
        self.result = out
        if out is None and needs_out:
            self.result = empty_like(a, self.shape, self.dtype)
        self.out: _Operand | None = None
        if self.result is not None:
            self._take_out(out is not None, shapes)
        sums = "float64" if self.a.array.dtype == "float64" else "float32"
        dtype = self.out.array.dtype if self.out else self.dtype
        self.scale = self._vector(scale, "scale", sums) if scale is not None else None
        self.bias = self._vector(bias, "bias", dtype) if bias is not None else None
        operands = [x for x in (self.a, self.b, self.c, self.out) if x]
        vectors = [x[0] for x in (self.scale, self.bias) if x]
        self.gpu, self.shapes = _place_of(operands + vectors)
        self.handle = handle_of(self._place(device))
        self.problem = self._problem(m, n, k, c.COMPUTES[compute], _EPILOGUES[epilogue])

    def _addend(self, c_: Any, shapes: str) -> _Operand:
        """c as it is, or a copy that is broadcast to the shape of the result."""
        operand = _Operand(c_, "c", self.stream)
        given, wanted = tuple(operand.array.shape), self._visible(self.shape)
        if given == self.shape:
            return operand.as_matrices()
        if len(given) > len(wanted) or any(x not in (1, y) for x, y in zip(given[::-1],
                                                                           wanted[::-1])):
            raise ValueError(f"c has shape {given}, but {shapes}: it must be {wanted}, or "
                             "broadcast to it")
        full = broadcast_to(c_, wanted).reshape(self.shape)
        return _Operand(full, "c", self.stream).as_matrices()

    def _vector(self, source: Any, name: str, dtype: str) -> tuple[_Operand, int]:
        """A vector of the epilogue, and whether it is per row or per column of the result."""
        operand = _Operand(source, name, self.stream)
        x = operand.array
        m, n = self.shape[-2:]
        # As NumPy broadcasts: n values, or 1 x n, for each column; m x 1 for each row.
        if tuple(x.shape) in ((n,), (1, n)):
            kind, step = c.PER_COLUMN, x.strides[-1]
        elif tuple(x.shape) == (m, 1):
            kind, step = c.PER_ROW, x.strides[0]
        else:
            raise ValueError(f"{name} has shape {tuple(x.shape)}, but must be {(n,)}, a value for "
                             f"each column of the result, or {(m, 1)}, one for each row")
        if x.dtype != dtype:
            raise TypeError(f"{name} has elements of type {x.dtype}, but must have {dtype}, "
                            + ("in which products are summed" if name == "scale" else
                               "as the result"))
        if step != 1 and (m if kind == c.PER_ROW else n) > 1:
            operand.array = operand._copied()
        return operand, kind

    def _take_out(self, is_given: bool, shapes: str) -> None:
        self.out = _Operand(self.result, "out", self.stream, may_copy=False)
        seen = self.out.array
        check_writable(self.result, seen, "out")
        wanted = self._visible(self.shape) if is_given else self.shape
        if tuple(seen.shape) != wanted:
            raise ValueError(f"out has shape {tuple(seen.shape)}, but {shapes}: it must be {wanted}")
        if is_given and wanted != self.shape:
            strides = list(seen.strides)
            if self.drops_row and self.drops_col:
                strides = [1, 1]
            elif self.drops_row:
                strides.insert(len(strides) - 1, max(1, self.shape[-1]))
            else:
                strides.append(1)
            self.out.array = seen.with_axes(self.shape, tuple(strides))
        self.out.as_matrices()

    def _visible(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the result without the axes that vectors had been given."""
        kept = shape[:-2]
        if not self.drops_row:
            kept += shape[-2:-1]
        if not self.drops_col:
            kept += shape[-1:]
        return kept

    def _place(self, device: str | None) -> int:
        if self.gpu is not None:
            return self.gpu
        if device not in (None, "cpu"):
            raise ValueError(f"device is {device!r}, but must be None or 'cpu'")
        return c.CPU if device == "cpu" else c.ANY_PLACE

    def _problem(self, m: int, n: int, k: int, compute: int, activation: int) -> c.Problem:
        def kind(x: _Operand) -> int:
            return c.TYPES[x.array.dtype]
        d = self.out.array if self.out else None
        is_col = d is not None and not _line(d)[0]  # type: ignore[index]
        order = c.COLUMN_MAJOR if is_col else c.ROW_MAJOR

        def op_and_ld(x: Array) -> tuple[int, int]:
            has_rows, ld = _line(x)  # type: ignore[misc]
            if is_col and has_rows and _has_columns(x):
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
            problem.ldd = _line(d)[1]  # type: ignore[index]
        problem.ldc = problem.ldd
        if self.c:
            op_c, ldc = op_and_ld(self.c.array)
            if op_c:
                self.c.array = array_of(contiguous(self.c.array.source), "c", self.stream)
                op_c, ldc = op_and_ld(self.c.array)
            if op_c:
                raise ValueError("out is in column-major order, but c is not: give both in one")
            problem.ldc = ldc
        return problem

    def arguments(self, alpha: float, beta: float, at: dict[str, int]) -> c.Arguments:
        def address(x: _Operand | None) -> int | None:
            return x.array.address + at.get(x.name, 0) if x else None
        return c.Arguments(alpha=alpha, beta=beta, a=address(self.a), b=address(self.b),
                           c=address(self.c), d=address(self.out), stream=self.stream,
                           scale=address(self.scale[0]) if self.scale else None,
                           bias=address(self.bias[0]) if self.bias else None)

    def run(self, alpha: float, beta: float) -> Any:
        what = self.shapes
        if not self.batch:
            arguments = self.arguments(alpha, beta, {})
            c.check(c.lib.tessera_gemm_with(self.handle, self.problem, None, arguments), what)
            return self._given_back()
        if self._run_as_batch(alpha, beta, what):
            return self._given_back()
        self._check_apart()
        for at in self._offsets():
            arguments = self.arguments(alpha, beta, at)
            c.check(c.lib.tessera_gemm_with(self.handle, self.problem, None, arguments), what)
        return self._given_back()

    def _run_as_batch(self, alpha: float, beta: float, what: str) -> bool:
        """One call for all products, where each operand has one stride; False: it takes none."""
        steps = {}
        for x in (self.a, self.b, self.c, self.out):
            if not x:
                continue
            strides = x.batch_strides(self.batch)
            for axis in range(len(self.batch) - 1):
                if strides[axis] != strides[axis + 1] * self.batch[axis + 1]:
                    return False
            steps[x.name] = strides[-1]
        problem = c.Problem()
        ctypes.pointer(problem)[0] = self.problem
        problem.batch, problem.batch_count = c.STRIDED, 1
        for extent in self.batch:
            problem.batch_count *= extent
        problem.stride_a, problem.stride_b = steps["a"], steps["b"]
        problem.stride_c, problem.stride_d = steps.get("c", 0), steps["out"]
        arguments = self.arguments(alpha, beta, {})
        status = c.lib.tessera_gemm_with(self.handle, problem, None, arguments)
        if status == c.UNSUPPORTED:
            return False
        c.check(status, what)
        return True

    def _check_apart(self) -> None:
        """ValueError where one product might write what another one reads."""
        assert self.out
        first, last = _range_of(self.out.array)
        for x in (self.a, self.b, self.c):
            if not x or (x is self.c and x.array.address == first
                         and x.array.strides == self.out.array.strides):
                continue
            low, high = _range_of(x.array)
            if low <= last and first <= high:
                raise ValueError(f"out may share memory with {x.name}, which other products of the "
                                 f"batch read: {self.shapes}")

    def _offsets(self) -> Any:
        """For each product, the bytes from the first one of each operand."""
        operands = [x for x in (self.a, self.b, self.c, self.out) if x]
        strides = [[s * _bytes_of(x.array.dtype) for s in x.batch_strides(self.batch)]
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

    def _given_back(self) -> Any:
        finish(self.result, self.stream)
        if not (self.drops_row or self.drops_col):
            return self.result
        return self.result.reshape(self._visible(self.shape))


def matmul(a: Any, b: Any, *, out: Any = None, compute: str | None = None,
           device: str | None = None) -> Any:
    """a @ b, as numpy.matmul: (..., m, k) by (..., k, n) gives (..., m, n).

    Batch dimensions are broadcast; a vector is one row on the left, (k,), or one column on the
    right, and its axis is missing in the result. a and b are both of float64, or neither is; the
    result has a's type, int32 where that is int8. compute is None (FP32 sums for FP32 and smaller
    types, FP64 for FP64) or "tf32". device="cpu" multiplies host arrays on the CPU.
    """
    key = key_of(a, b, out, compute)
    if key is not None:
        again = matmul_again(key, a, b, out)
        if again is not None:
            return again
    product = _Product(a, b, None, out, compute, None, device=device)
    result = product.run(1.0, 0.0)
    keep(key, product, a, b)
    return result


def gemm(a: Any, b: Any, c: Any = None, *, alpha: float = 1.0, beta: float | None = None,
         epilogue: str | None = None, scale: Any = None, bias: Any = None, out: Any = None,
         compute: str | None = None, device: str | None = None) -> Any:
    """epilogue(scale * (alpha * a @ b + beta * c) + bias), rounded once.

    (..., m, k) by (..., k, n) with c and the result (..., m, n).
    beta is 1 with a c and 0 without. c is broadcast. out may be c itself. Transposes are views: a.T.
    epilogue is None, "relu", "gelu" (by tanh) or "gelu_erf". scale and bias have shape (n,), a value
    for each column, or (m, 1), one for each row; bias is of the result's type, scale of float32 (or
    float64, for products of float64). All products of a batch share them.
    """
    if c is None and beta not in (None, 0, 0.0):
        raise ValueError(f"beta is {beta}, but c is None: there is nothing to multiply by beta")
    if beta is None:
        beta = 0.0 if c is None else 1.0
    product = _Product(a, b, c if beta != 0 else None, out, compute, epilogue, device=device,
                       scale=scale, bias=bias)
    return product.run(float(alpha), float(beta))


def explain(a: Any, b: Any, *, compute: str | None = None,
            device: str | None = None) -> Explanation:
    """How a @ b would be computed, and why so; nothing is computed. Of a batch, one product."""
    product = _Product(a, b, None, None, compute, None, needs_out=False, device=device)
    return explain_problem(product.handle, product.problem)
