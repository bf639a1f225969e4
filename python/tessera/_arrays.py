"""Arrays of any library as address, shape, strides, type and place, without a copy.

NumPy and PyTorch are read directly, every other library through DLPack, which also makes the
producer's work come before ours on our stream.
"""
from __future__ import annotations

import ctypes
import sys
from typing import Any

from ._torch import is_tensor, stored

_HOST_KINDS, _CUDA_KINDS = (1, 3), (2, 13)  # DLPack: CPU, pinned; CUDA, managed
_DLPACK_TYPES = {(2, 64): "float64", (2, 32): "float32", (2, 16): "float16", (4, 16): "bfloat16",
                 (0, 8): "int8", (0, 32): "int32", (10, 8): "float8_e4m3fn",
                 (12, 8): "float8_e5m2"}


def bytes_of(dtype: str) -> int:
    return {"float64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2}.get(dtype, 1)


class Array:
    """One operand. Strides count elements; gpu is None in host memory. why_not: the reason
    not to write to it, or ""."""

    __slots__ = ("source", "address", "shape", "strides", "dtype", "gpu", "owner", "why_not")

    def __init__(self, source: Any, address: int, shape: tuple[int, ...],
                 strides: tuple[int, ...], dtype: str, gpu: int | None, owner: Any = None,
                 why_not: str = ""):
        self.source, self.address, self.shape = source, address, shape
        self.strides, self.dtype, self.gpu, self.owner = strides, dtype, gpu, owner
        self.why_not = why_not

    def with_axes(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> "Array":
        return Array(self.source, self.address, shape, strides, self.dtype, self.gpu, self.owner,
                     self.why_not)


# DLPack 1: the flags of a versioned tensor come before it and say whether it may be written to.
_DLPACK_HEADER, _READ_ONLY, _IS_COPIED = 32, 1, 2


class _DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_capsule_is = ctypes.pythonapi.PyCapsule_IsValid
_capsule_is.restype = ctypes.c_int
_capsule_is.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _check_is_plain(x: Any, name: str) -> None:
    """TypeError for subclasses of NumPy's array whose values are more than their elements."""
    import numpy
    for kind in type(x).__mro__:
        if kind.__name__ == "MaskedArray" and kind.__module__.startswith("numpy.ma"):
            raise TypeError(f"{name} is a {type(x).__name__}, a MaskedArray, whose mask would be "
                            "lost: fill it first")
    if type(x).__array_ufunc__ is not numpy.ndarray.__array_ufunc__:
        raise TypeError(f"{name} is a {type(x).__name__}, which computes products in its own way "
                        f"(__array_ufunc__): pass numpy.asarray({name}) for its elements alone")


def _from_numpy(x: Any, name: str) -> Array:
    import numpy
    if type(x) is not numpy.ndarray:
        _check_is_plain(x, name)
    if not x.dtype.isnative:
        raise TypeError(f"{name} has elements of type {x.dtype}, but must have this machine's byte "
                        f"order: {name}.astype({name}.dtype.newbyteorder('='))")
    why_not = "" if x.flags.writeable else "read-only"
    item = x.itemsize
    if item == 0 or any(stride % item for stride in x.strides) or not x.flags.aligned:
        x = x.copy()
    address = x.__array_interface__["data"][0]
    strides = tuple(s // item for s in x.strides) if item else x.strides
    return Array(x, address, x.shape, strides, x.dtype.name, None, None, why_not)


def _from_torch(x: Any, name: str) -> Array:
    x = stored(x, name)
    device = x.device
    if device.type not in ("cpu", "cuda"):
        raise TypeError(f"a tensor on {device} is not supported: it must be on cpu or cuda")
    gpu = None if device.type == "cpu" else device.index
    return Array(x, x.data_ptr(), tuple(x.shape), x.stride(), str(x.dtype)[6:], gpu)


def _tensor_in(capsule: Any) -> tuple[_DlTensor, str]:
    """The tensor of a capsule, and the reason not to write to it, or ""."""
    if not _capsule_is(capsule, b"dltensor_versioned"):
        return _DlTensor.from_address(_capsule_pointer(capsule, b"dltensor")), ""
    at = _capsule_pointer(capsule, b"dltensor_versioned")
    # {major, minor: 4 bytes each, manager, deleter, flags: 8 bytes each}, then the tensor.
    flags = ctypes.c_uint64.from_address(at + _DLPACK_HEADER - 8).value
    why_not = "read-only" if flags & _READ_ONLY else "a copy" if flags & _IS_COPIED else ""
    return _DlTensor.from_address(at + _DLPACK_HEADER), why_not


def _from_dlpack(x: Any, stream: int | None) -> Array:
    kind, index = x.__dlpack_device__()
    kind = int(kind)
    if kind not in _HOST_KINDS + _CUDA_KINDS:
        raise TypeError(f"an array on DLPack device {kind} is not supported: it must be in host "
                        "memory or on a CUDA device")
    # DLPack: 1 is CUDA's null stream, and host arrays have none.
    on = {"stream": stream or 1} if kind in _CUDA_KINDS else {}
    try:
        capsule = x.__dlpack__(max_version=(1, 0), **on)
    except TypeError:  # a library of before DLPack 1
        capsule = x.__dlpack__(**on)
    tensor, why_not = _tensor_in(capsule)
    if library_of(x) in ("jax", "jaxlib"):
        why_not = "an array of JAX, which is immutable"
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
    gpu = index if kind in _CUDA_KINDS else None
    return Array(x, address, shape, strides, dtype, gpu, capsule, why_not)


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
    if is_tensor(x):
        return _from_torch(x, name)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(x, numpy.ndarray):
        return _from_numpy(x, name)
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        return _from_dlpack(x, stream)
    raise TypeError(f"{name} is a {type(x).__name__}, but must be an array of NumPy, PyTorch, "
                    "CuPy, JAX or another library with DLPack")


def is_on_gpu(x: Any) -> bool:
    if is_tensor(x):
        return bool(x.is_cuda)
    if hasattr(x, "__dlpack_device__"):
        return int(x.__dlpack_device__()[0]) in _CUDA_KINDS
    return False


def current_stream(x: Any) -> int | None:
    """The stream on which the array's library works at the moment; None: the null stream."""
    if is_tensor(x):
        return sys.modules["torch"].cuda.current_stream(x.device).cuda_stream or None
    if library_of(x) == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream().ptr or None
    return None
