"""New arrays of the caller's library: results, copies and conversions."""
from __future__ import annotations

import ctypes
import sys
from typing import Any, Callable

from ._arrays import Array, bytes_of, is_on_gpu, library_of
from ._torch import is_tensor


def kind_of(x: Any) -> str:
    """Which library makes arrays like this one: "torch", "cupy", "jax"; "numpy" for all others."""
    if is_tensor(x):
        return "torch"
    library = library_of(x)
    return {"cupy": "cupy", "jax": "jax", "jaxlib": "jax"}.get(library, "numpy")


def _numpy_type(dtype: str) -> Any:
    if dtype in ("float64", "float32", "float16", "int8", "int32"):
        return dtype
    import ml_dtypes
    return getattr(ml_dtypes, dtype)


class _Elements:
    """Memory of another library's array, as elements without a meaning, for NumPy."""

    def __init__(self, x: Array):
        bytes_ = bytes_of(x.dtype)
        self.owner = x
        self.__array_interface__ = {"version": 3, "typestr": f"<u{bytes_}", "shape": x.shape,
                                    "data": (x.address, False),
                                    "strides": tuple(s * bytes_ for s in x.strides)}


def _as_numpy(x: Array, name: str) -> Any:
    """An array of NumPy over the memory of any library's array on the host."""
    import numpy
    if isinstance(x.source, numpy.ndarray):
        return x.source
    if x.gpu is not None:
        raise TypeError(f"{name} is a {type(x.source).__name__} on a GPU that would have to be "
                        "copied or converted; that works for arrays of PyTorch, CuPy and JAX alone")
    return numpy.asarray(_Elements(x)).view(_numpy_type(x.dtype))


def _empty_numpy(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    import numpy
    return numpy.empty(shape, _numpy_type(dtype))


def _empty_torch(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    torch = sys.modules["torch"]
    return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)


def _empty_cupy(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    return sys.modules["cupy"].empty(shape, dtype)


def _empty_jax(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    # The library writes to a buffer of JAX before anything else has seen it.
    jax = sys.modules["jax"]
    made = jax.device_put(jax.numpy.zeros(shape, dtype), list(like.devices())[0])
    return made.block_until_ready()


def empty_like(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """A new array of the same library, in the same place."""
    makers: dict[str, Callable[..., Any]] = {"torch": _empty_torch, "cupy": _empty_cupy,
                                             "jax": _empty_jax, "numpy": _empty_numpy}
    return makers[kind_of(like)](like, shape, dtype)


def contiguous(x: Array, name: str) -> Any:
    """The same elements in a new array in C order."""
    kind = kind_of(x.source)
    if kind == "torch":
        return x.source.contiguous()
    if kind == "cupy":
        return sys.modules["cupy"].ascontiguousarray(x.source)
    if kind == "jax":
        return x.source + 0
    import numpy
    # WHY not ascontiguousarray: that of an array without dimensions has one.
    return numpy.array(_as_numpy(x, name), order="C")


def transposed_copy(x: Array, name: str) -> Any:
    """The same elements in a new array in which columns are contiguous."""
    kind = kind_of(x.source)
    if kind == "torch":
        return x.source.mT.contiguous().mT
    if kind == "numpy":
        import numpy
        return numpy.array(_as_numpy(x, name).swapaxes(-1, -2), order="C").swapaxes(-1, -2)
    if kind == "cupy":
        cupy = sys.modules["cupy"]
        return cupy.ascontiguousarray(x.source.swapaxes(-1, -2)).swapaxes(-1, -2)
    raise ValueError(f"out is in column-major order, but {name} of JAX is not")


def converted(x: Array, dtype: str, name: str) -> Any:
    """The same values in another type."""
    if kind_of(x.source) in ("cupy", "jax"):
        return x.source.astype(dtype)
    return _as_numpy(x, name).astype(_numpy_type(dtype))


def broadcast_to(x: Array, shape: tuple[int, ...], name: str) -> Any:
    """A new array in C order; the shapes fit."""
    kind = kind_of(x.source)
    if kind == "torch":
        return x.source.expand(shape).contiguous()
    if kind == "cupy":
        cupy = sys.modules["cupy"]
        return cupy.ascontiguousarray(cupy.broadcast_to(x.source, shape))
    if kind == "jax":
        return sys.modules["jax"].numpy.broadcast_to(x.source, shape)
    import numpy
    return numpy.array(numpy.broadcast_to(_as_numpy(x, name), shape), order="C")


def copy_into(out: Any, seen: Array, result: Any) -> None:
    """Into an array that the library cannot write to where it is; seen describes it."""
    kind = kind_of(out)
    if kind == "torch":
        with sys.modules["torch"].no_grad():
            out.copy_(result)
        return
    if kind == "cupy":
        out[...] = result
        return
    import numpy
    if not isinstance(out, numpy.ndarray):
        out = _as_numpy(seen, "out")
    out[...] = result


def scalar_of(result: Any) -> Any:
    """NumPy gives a number, not an array, for a product without dimensions."""
    return result[()] if kind_of(result) == "numpy" and result.ndim == 0 else result


def finish(x: Any, stream: int | None) -> None:
    """Waits where the array's library does not know of our stream: JAX."""
    if kind_of(x) == "jax" and is_on_gpu(x):
        driver = ctypes.CDLL("libcuda.so.1")
        driver.cuStreamSynchronize(ctypes.c_void_p(stream))
