"""A library that only speaks DLPack, and whose tensors begin at an offset from their memory."""
import ctypes


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_CODES = {"float64": (2, 64), "float32": (2, 32), "float16": (2, 16), "bfloat16": (4, 16), "int8": (0, 8), "int32": (0, 32)}


class Producer:
    """Of NumPy's array x: data is `offset` bytes before its first element. flags: of DLPack 1, 1 is read-only; None:
    a producer of before. has_strides=False: none are given, which means C order."""

    def __init__(self, x, offset=0, flags=None, has_strides=True):
        self.x, self.offset, self.flags, self.has_strides = x, offset, flags, has_strides
        self.made = []

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        if self.flags is None and "max_version" in options:
            raise TypeError("max_version is not known")
        x, integers = self.x, ctypes.c_int64 * max(self.x.ndim, 1)
        shape = integers(*x.shape)
        strides = integers(*(s // x.itemsize for s in x.strides))
        code, bits = _CODES[x.dtype.name]
        tensor = Tensor(x.__array_interface__["data"][0] - self.offset, 1, 0, x.ndim, code, bits, 1, shape,
                        strides if self.has_strides else None, self.offset)
        made = Managed(tensor) if self.flags is None else Versioned(1, 0, None, None, self.flags, tensor)
        self.made.append((made, shape, strides))
        return _new_capsule(ctypes.addressof(made), b"dltensor" if self.flags is None else b"dltensor_versioned", None)
