"""Operands of a product as matrices that the library can read, and the result that it can write."""
from __future__ import annotations

from typing import Any

from . import _library as c
from ._arrays import Array, array_of, bytes_of, contiguous_strides
from ._making import (contiguous, converted, copy_into, empty_like, kind_of,
                      scalar_of, transposed_copy)
from ._torch import has_written, is_tensor

_FLOATS = ("float8", "float16", "float32", "float64")  # each is promoted to the next


def line_of(x: Array) -> tuple[bool, int] | None:
    """(rows are contiguous, ld), or else columns are; None: neither. Thin matrices: rows."""
    rows, cols = x.shape[-2:]
    by_row, by_col = x.strides[-2:]
    if (by_col == 1 or cols <= 1) and (by_row >= cols or rows <= 1):
        return True, max(by_row, cols, 1)
    if (by_row == 1 or rows <= 1) and (by_col >= rows or cols <= 1):
        return False, max(by_col, rows, 1)
    return None


def has_columns(x: Array) -> bool:
    """Whether the columns are contiguous, too, or alone."""
    rows, cols = x.shape[-2:]
    by_row, by_col = x.strides[-2:]
    return (by_row == 1 or rows <= 1) and (by_col >= rows or cols <= 1)


def range_of(x: Array) -> tuple[int, int]:
    """The addresses of its first and last byte; strides are not negative."""
    last = sum((n - 1) * s for n, s in zip(x.shape, x.strides)) + 1
    return x.address, x.address + last * bytes_of(x.dtype) - 1


def with_canonical_strides(x: Array) -> Array:
    """Axes of one element get the stride that says least: theirs may be any, negative ones too."""
    if 0 in x.shape:
        return x.with_axes(x.shape, contiguous_strides(x.shape))
    strides = [0 if n == 1 else s for n, s in zip(x.shape, x.strides)]
    rows, cols = x.shape[-2:]
    if cols == 1:
        strides[-1] = 1
    if rows == 1:
        strides[-2] = cols if strides[-1] == 1 else 1
    return x.with_axes(x.shape, tuple(strides))


def is_readable(x: Array) -> bool:
    """Whether the library takes these strides."""
    return line_of(x) is not None and all(s >= 0 for s in x.strides)


def may_overlap_itself(x: Array) -> bool:
    """False if every element surely has a place of its own."""
    reach = 0
    for step, extent in sorted((abs(s), n) for n, s in zip(x.shape, x.strides) if n > 1):
        if step <= reach:
            return True
        reach += step * (extent - 1)
    return False


def promoted(a: Array, b: Array, is_out_given: bool) -> str | None:
    """The type that both are converted to, as their library promotes; None: each keeps its own.
    TypeError where there is none."""
    if a.dtype == b.dtype:
        return None
    if {a.dtype, b.dtype} == {"bfloat16", "float32"}:
        return None  # the library multiplies these as they are, in FP32
    both = f"a has elements of type {a.dtype}, b of {b.dtype}"
    if is_tensor(a.source) or is_tensor(b.source):
        raise TypeError(f"{both}: PyTorch multiplies tensors of one type alone; convert one")
    kinds = [x.dtype.partition("_")[0].replace("bfloat16", "float16") for x in (a, b)]
    if kinds == ["float8", "float8"] and is_out_given:
        return None
    if kinds[0] == kinds[1] == "float16" and kind_of(a.source) == kind_of(b.source) == "jax":
        return "float32"
    if "int8" in kinds:
        other = (b if kinds[0] == "int8" else a).dtype
        if other.startswith(("float", "bfloat")):
            return other
    elif kinds[0] != kinds[1] and all(kind in _FLOATS for kind in kinds):
        return (a if _FLOATS.index(kinds[0]) > _FLOATS.index(kinds[1]) else b).dtype
    raise TypeError(f"{both}, which have no common type that is multiplied: convert one of them")


class Operand:
    """A matrix, or a batch of them: (..., rows, cols)."""

    def __init__(self, source: Any, name: str, stream: int | None):
        self.name, self.stream = name, stream
        self.array = self.seen = self._described(source)

    def _described(self, source: Any) -> Array:
        array = array_of(source, self.name, self.stream)
        if array.dtype not in c.TYPES:
            raise TypeError(f"{self.name} has elements of type {array.dtype}, but must have one "
                            "of: " + ", ".join(c.TYPES))
        return array

    def convert_to(self, dtype: str, is_left: bool) -> None:
        if self.array.dtype != dtype:
            self.array = self.seen = self._described(converted(self.seen, dtype, self.name))
            self.as_matrices(is_left)

    def copy_in_order(self, is_column_major: bool) -> None:
        if is_column_major:
            self.array = self._described(transposed_copy(self.seen, self.name))
            self.as_matrices()
        else:
            self.array = with_canonical_strides(self.copied())

    def as_matrices(self, is_left: bool | None = None) -> "Operand":
        """A vector becomes one row (left) or one column; then rows or columns are adjacent."""
        x = self.array
        if len(x.shape) == 0 or (len(x.shape) == 1 and is_left is None):
            raise ValueError(f"{self.name} has shape {x.shape}, but must have at least "
                             f"{1 if is_left is not None else 2} dimensions")
        self.array = self._as_matrices(x, is_left)
        if not is_readable(self.array):
            self.array = self._as_matrices(self.copied(), is_left)
        return self

    @staticmethod
    def _as_matrices(x: Array, is_left: bool | None) -> Array:
        if len(x.shape) == 1:
            n, step = x.shape[0], x.strides[0]
            x = x.with_axes(*(((1, n), (0, step)) if is_left else ((n, 1), (step, 1))))
        return with_canonical_strides(x)

    def copied(self) -> Array:
        return array_of(contiguous(self.seen, self.name), self.name, self.stream)

    def batch_strides(self, batch: tuple[int, ...]) -> tuple[int, ...]:
        shape = self.array.shape[:-2]
        strides = self.array.strides[:-2]
        missing = len(batch) - len(shape)
        return (0,) * missing + tuple(0 if n == 1 else s for n, s in zip(shape, strides))


class Result(Operand):
    """An output: a new array, or the caller's: written where it is, or by a copy where the library cannot.

    missing: the axes, -2 and -1, that the caller does not see, since an operand is a vector."""

    def __init__(self, given: Any, like: Any, shape: tuple[int, ...], missing: tuple[int, ...],
                 dtype: str, stream: int | None, shapes: str, name: str = "out"):
        self.given, self.shape, self.missing = given, shape, missing
        made = empty_like(like, shape, dtype) if given is None else None
        super().__init__(made if given is None else given, name, stream)
        self.made = made
        if given is not None:
            self._take(shapes)
        self.array = with_canonical_strides(self.array)

    def _take(self, shapes: str) -> None:
        x = self.array
        visible = tuple(n for axis, n in enumerate(self.shape, -len(self.shape))
                        if axis not in self.missing)
        if tuple(x.shape) != visible:
            raise ValueError(f"{self.name} has shape {tuple(x.shape)}, but {shapes}: it must be {visible}")
        if x.why_not:
            raise ValueError(f"{self.name} is {x.why_not}, with shape {x.shape}")
        if 0 not in x.shape and may_overlap_itself(x):
            raise ValueError(f"{self.name} has strides {x.strides} in elements, so that its elements may "
                             f"share memory, with shape {x.shape}")
        strides = list(x.strides)
        for axis in self.missing:
            strides.insert(len(strides) if axis == -1 else len(self.shape) - 2, 0)
        whole = with_canonical_strides(x.with_axes(self.shape, tuple(strides)))
        if x.source is self.given and is_readable(whole):
            self.array = whole
        else:
            if x.gpu is not None and kind_of(self.given) == "numpy":
                raise ValueError(f"{self.name} has strides {x.strides} in elements, with shape "
                                 f"{x.shape}, but rows or columns must be adjacent in an array of this library")
            self.made = empty_like(self.given, self.shape, x.dtype)
            self.array = array_of(self.made, self.name, self.stream)

    def is_copied(self) -> bool:
        """Whether the caller's array is not the one that the library writes to."""
        return self.given is not None and self.made is not None

    def given_back(self) -> Any:
        """What the caller gets, once the product is on its way to self.array."""
        seen = self.made
        if self.missing and seen is not None:
            kept = [n for axis, n in enumerate(self.shape, -len(self.shape))
                    if axis not in self.missing]
            seen = seen.reshape(tuple(kept))
        if self.given is None:
            return scalar_of(seen)
        if seen is not None:
            copy_into(self.given, self.seen, seen)
        elif is_tensor(self.given):
            has_written(self.given)
        return self.given
