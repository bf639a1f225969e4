"""Arrays of any library as address, shape, strides, type and place, without a copy.

NumPy and PyTorch are read directly, every other library through DLPack, which also makes the
producer's work come before ours on our stream.
"""
from __future__ import annotations

import ctypes
import sys
from typing import Any, Callable

_HOST_KINDS, _CUDA_KINDS = (1, 3), (2, 13)  # DLPack: CPU, pinned; CUDA, managed
_DLPACK_TYPES = {(2, 64): "float64", (2, 32): "float32", (2, 16): "float16", (4, 16): "bfloat16",
                 (0, 8): "int8", (0, 32): "int32", (10, 8): "float8_e4m3fn",
                 (12, 8): "float8_e5m2"}


class Array:
    """One operand. Strides count elements; gpu is None in host memory."""

    __slots__ = ("source", "address", "shape", "strides", "dtype", "gpu", "owner")

    def __init__(self, source: Any, address: int, shape: tuple[int, ...],
                 strides: tuple[int, ...], dtype: str, gpu: int | None, owner: Any = None):
        self.source, self.address, self.shape = source, address, shape
        self.strides, self.dtype, self.gpu, self.owner = strides, dtype, gpu, owner

    def with_axes(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> "Array":
        return Array(self.source, self.address, shape, strides, self.dtype, self.gpu, self.owner)


class _DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _from_numpy(x: Any, name: str) -> Array:
    if type(x).__name__ == "MaskedArray":
        raise TypeError(f"{name} is a MaskedArray, whose mask would be lost: fill it first")
    if not x.dtype.isnative:
        raise TypeError(f"{name} has elements of type {x.dtype}, but must have this machine's byte "
                        f"order: {name}.astype({name}.dtype.newbyteorder('='))")
    item = x.itemsize
    if item == 0 or any(stride % item for stride in x.strides) or not x.flags.aligned:
        x = x.copy()
    address = x.__array_interface__["data"][0]
    strides = tuple(s // item for s in x.strides) if item else x.strides
    return Array(x, address, x.shape, strides, x.dtype.name, None)


def check_writable(x: Any, array: Array, name: str) -> None:
    """ValueError for an array that cannot be written to as it is."""
    if array.source is not x:
        raise ValueError(f"{name} has shape {array.shape}, and its elements are not at multiples of "
                         "their bytes")
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(x, numpy.ndarray) and not x.flags.writeable:
        raise ValueError(f"{name} is read-only, with shape {array.shape}")


def _from_torch(x: Any) -> Array:
    device = x.device
    if device.type not in ("cpu", "cuda"):
        raise TypeError(f"a tensor on {device} is not supported: it must be on cpu or cuda")
    gpu = None if device.type == "cpu" else device.index
    return Array(x, x.data_ptr(), tuple(x.shape), x.stride(), str(x.dtype)[6:], gpu)


def _from_dlpack(x: Any, stream: int | None) -> Array:
    kind, index = x.__dlpack_device__()
    kind = int(kind)
    if kind not in _HOST_KINDS + _CUDA_KINDS:
        raise TypeError(f"an array on DLPack device {kind} is not supported: it must be in host "
                        "memory or on a CUDA device")
    # DLPack: 1 is CUDA's null stream, and host arrays have none.
    on = {"stream": stream or 1} if kind in _CUDA_KINDS else {}
    capsule = x.__dlpack__(**on)
    tensor = _DlTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    dtype = _DLPACK_TYPES.get((tensor.code, tensor.bits))
    if dtype is None or tensor.lanes != 1:
        raise TypeError(f"elements of DLPack type {tensor.code} with {tensor.bits} bits are not "
                        "supported")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[i] for i in range(tensor.ndim))
    else:
        strides = contiguous_strides(shape)
    address = (tensor.data or 0) + tensor.byte_offset
    # The capsule that is not consumed frees its tensor when it is collected.
    return Array(x, address, shape, strides, dtype, index if kind in _CUDA_KINDS else None, capsule)


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def library_of(x: Any) -> str:
    """The top module of an array's type: "numpy", "torch", "cupy", "jaxlib"."""
    return type(x).__module__.partition(".")[0]


def array_of(x: Any, name: str, stream: int | None = None) -> Array:
    """Describes an operand. TypeError for what is no array."""
    library = library_of(x)
    if library == "torch" and hasattr(x, "data_ptr"):
        return _from_torch(x)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(x, numpy.ndarray):
        return _from_numpy(x, name)
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        return _from_dlpack(x, stream)
    raise TypeError(f"{name} is a {type(x).__name__}, but must be an array of NumPy, PyTorch, "
                    "CuPy, JAX or another library with DLPack")


def is_on_gpu(x: Any) -> bool:
    if library_of(x) == "torch" and hasattr(x, "is_cuda"):
        return bool(x.is_cuda)
    if hasattr(x, "__dlpack_device__"):
        return int(x.__dlpack_device__()[0]) in _CUDA_KINDS
    return False


def current_stream(x: Any) -> int | None:
    """The stream on which the array's library works at the moment; None: the null stream."""
    library = library_of(x)
    if library == "torch":
        return sys.modules["torch"].cuda.current_stream(x.device).cuda_stream or None
    if library == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream().ptr or None
    return None


def _empty_numpy(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    import numpy
    if dtype not in ("float64", "float32", "float16", "int8", "int32"):
        import ml_dtypes
        return numpy.empty(shape, getattr(ml_dtypes, dtype))
    return numpy.empty(shape, dtype)


def _empty_torch(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    torch = sys.modules["torch"]
    return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)


def _empty_cupy(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    return sys.modules["cupy"].empty(shape, dtype)


def _empty_jax(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    # A buffer that nobody else has seen yet is filled before anybody does.
    jax = sys.modules["jax"]
    made = jax.device_put(jax.numpy.zeros(shape, dtype), list(like.devices())[0])
    return made.block_until_ready()


def empty_like(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """A new array of the same library, in the same place."""
    makers: dict[str, Callable[..., Any]] = {"torch": _empty_torch, "cupy": _empty_cupy,
                                             "jaxlib": _empty_jax, "jax": _empty_jax}
    return makers.get(library_of(like), _empty_numpy)(like, shape, dtype)


def contiguous(x: Any) -> Any:
    """The same elements in a new array in C order."""
    library = library_of(x)
    if library == "torch":
        return x.contiguous()
    if library == "cupy":
        return sys.modules["cupy"].ascontiguousarray(x)
    if library in ("jax", "jaxlib"):
        return x + 0
    import numpy
    return numpy.ascontiguousarray(x)


def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """A new array in C order; the shapes fit."""
    library = library_of(x)
    if library == "torch":
        return x.expand(shape).contiguous()
    if library == "cupy":
        cupy = sys.modules["cupy"]
        return cupy.ascontiguousarray(cupy.broadcast_to(x, shape))
    if library in ("jax", "jaxlib"):
        return sys.modules["jax"].numpy.broadcast_to(x, shape)
    import numpy
    return numpy.ascontiguousarray(numpy.broadcast_to(x, shape))


def finish(x: Any, stream: int | None) -> None:
    """Waits where the array's library does not know of our stream: JAX."""
    if library_of(x) in ("jax", "jaxlib") and is_on_gpu(x):
        driver = ctypes.CDLL("libcuda.so.1")
        driver.cuStreamSynchronize(ctypes.c_void_p(stream))
