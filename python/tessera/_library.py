"""libtessera.so through ctypes: structs and calls of tessera/gemm.h, and its errors.

ctypes and not a compiled module: one wheel serves every Python, and nothing has to be compiled.
"""
from __future__ import annotations

import ctypes
import os
import pathlib
import struct
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int32, c_int64,
                    c_size_t, c_void_p)

OK, BAD_ARGUMENT, UNAVAILABLE, UNSUPPORTED, FAILED, OUT_OF_MEMORY = range(6)
CURRENT_CONTEXT, CPU, ANY_PLACE = -1, -2, -3
COLUMN_MAJOR, ROW_MAJOR = range(2)
FASTER_SIDE, GPU_SIDE = range(2)
NO_BATCH, STRIDED, POINTERS = range(3)
DEVICE_MEMORY, HOST_MEMORY, DETECT_MEMORY = range(3)
PER_ROW, PER_COLUMN = 1, 2  # of a scale and of a bias
BEFORE_ACTIVATION = 1  # the auxiliary output
A, B = 1, 2  # operands that can be packed
TYPES = {"float64": 1, "float32": 2, "float16": 3, "bfloat16": 4, "float8_e4m3fn": 5,
         "float8_e5m2": 6, "int8": 7, "int32": 8}
COMPUTES = {None: 0, "f64": 1, "f32": 2, "tf32": 3, "f16": 4, "s32": 5, "f16x3": 6}


class Error(RuntimeError):
    """The GPU failed, there is none, or the driver is missing."""


class UnsupportedError(Error, NotImplementedError):
    """A legal problem that no kernel can compute."""


class OutOfMemoryError(Error, MemoryError):
    """Not enough memory, of the host or of the GPU."""


class Sized(Structure):
    """A struct that begins with its size."""

    def __init__(self, **fields):
        super().__init__(ctypes.sizeof(type(self)), **fields)


class Place(Sized):
    _fields_ = [("size", c_size_t), ("gpu", c_int32), ("plan_cache", c_int32),
                ("check_addresses", c_int32), ("host_side", c_int32), ("fp32", c_int32),
                ("reserved", c_int32)]


class Problem(Sized):
    _fields_ = [("size", c_size_t)] + [(n, c_int64) for n in ("m", "n", "k")] + [
        (n, c_int32) for n in ("type_a", "type_b", "type_c", "type_d", "compute", "order", "op_a",
                               "op_b")] + [
        (n, c_int64) for n in ("lda", "ldb", "ldc", "ldd")] + [
        ("batch", c_int32), ("batch_alignment", c_int32), ("batch_count", c_int64)] + [
        (n, c_int64) for n in ("stride_a", "stride_b", "stride_c", "stride_d")] + [
        (n, c_int32) for n in ("bias", "activation", "memory", "scale", "auxiliary",
                               "reserved")] + [(n, c_int64) for n in ("ldx", "stride_x")]


class PlanOptions(Sized):
    _fields_ = [("size", c_size_t), ("workspace_limit", c_size_t), ("alignment", c_int32),
                ("any_order", c_int32), ("kernel", c_char_p), ("packed", c_int32),
                ("reserved", c_int32)]


class Arguments(Sized):
    _fields_ = [("size", c_size_t), ("alpha", c_double), ("beta", c_double)] + [
        (n, c_void_p) for n in ("a", "b", "c", "d", "bias", "alpha_address", "beta_address",
                                "workspace")] + [("workspace_bytes", c_size_t),
                                                 ("stream", c_void_p)] + [
        (n, c_void_p) for n in ("scale", "packed_a", "packed_b", "x")]


# The same as bytes, which are made in a third of the time: alpha, beta, a, b, c, d, then zeros up
# to the workspace.
_packed = struct.Struct("@Q2d4Q3Q2Q5Q")
assert _packed.size == ctypes.sizeof(Arguments)


def packed_arguments(alpha: float, a: int, b: int, d: int, workspace: int, workspace_bytes: int,
                     stream: int) -> bytes:
    return _packed.pack(_packed.size, alpha, 0.0, a, b, 0, d, 0, 0, 0, workspace, workspace_bytes,
                        stream, 0, 0, 0, 0)


class DeviceInfo(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char * 128), ("pci_bus_id", c_char * 32),
                ("compute_capability", c_int32), ("sms", c_int32), ("memory_bytes", c_int64)]


class Choice(Sized):
    _fields_ = [("size", c_size_t), ("kernel", c_char * 96), ("decision", c_char * 160)] + [
        (n, c_double) for n in ("total_us", "launch_us", "repack_us", "start_us", "multiply_us",
                                "store_us", "memory_us", "reduce_us", "remainder_us")] + [
        ("workspace_bytes", c_int64), ("bound", c_int32), ("reserved", c_int32),
        ("plan", c_char * 320)]


class Explanation(Sized):
    _fields_ = [("size", c_size_t)] + [
        (n, c_int32) for n in ("where", "bound", "launches", "choices", "deterministic",
                               "folded")] + [
        ("kernel", c_char * 96), ("total_us", c_double), ("workspace_bytes", c_int64),
        ("faster_us", c_double), ("why_not", c_char * 256)]


LOG = CFUNCTYPE(None, c_void_p, c_char_p)


def _find() -> str:
    """The library of the wheel, of TESSERA_LIBRARY, of a build folder, or of the system."""
    given = os.environ.get("TESSERA_LIBRARY")
    if given:
        return given
    here = pathlib.Path(__file__).resolve().parent
    for folder in (here / "lib", here.parent.parent / "build"):
        if (folder / "libtessera.so.0").exists():
            return str(folder / "libtessera.so.0")
    return "libtessera.so.0"


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(_find())
    signatures = {
        "create": [POINTER(c_void_p), POINTER(Place)],
        "destroy": [c_void_p],
        "device_count": [POINTER(c_int32)],
        "device_info": [c_int32, POINTER(DeviceInfo)],
        "set_log": [c_void_p, c_void_p, c_void_p],
        "gemm": [c_void_p, POINTER(Problem), c_double, c_void_p, c_void_p, c_double, c_void_p,
                 c_void_p, c_void_p],
        "gemm_with": [c_void_p, POINTER(Problem), POINTER(PlanOptions), POINTER(Arguments)],
        "plan_create": [POINTER(c_void_p), c_void_p, POINTER(Problem), POINTER(PlanOptions)],
        "plan_workspace": [c_void_p, POINTER(c_size_t)],
        "plan_run": [c_void_p, POINTER(Arguments)],
        "plan_destroy": [c_void_p],
        "warm_up": [c_void_p, POINTER(Problem), c_size_t, POINTER(PlanOptions), c_void_p],
        "packed_bytes": [c_void_p, POINTER(Problem), c_int32, POINTER(c_size_t)],
        "pack": [POINTER(c_void_p), c_void_p, POINTER(Problem), c_int32, c_void_p, c_void_p,
                 c_size_t, c_void_p],
        "packed_destroy": [c_void_p],
        "explain": [c_void_p, POINTER(Problem), POINTER(PlanOptions), POINTER(Explanation),
                    POINTER(Choice), c_size_t],
    }
    for name, arguments in signatures.items():
        call = getattr(library, "tessera_" + name)
        call.argtypes = arguments
        call.restype = c_int32
    library.tessera_version.restype = c_char_p
    library.tessera_version_number.restype = c_int32
    library.tessera_last_message.restype = c_char_p
    library.tessera_activation_name.argtypes = [c_int32]
    library.tessera_activation_name.restype = c_char_p
    return library


def _activations() -> dict[str | None, int]:
    """The library's own table, by name."""
    found: dict[str | None, int] = {None: 0}
    while name := lib.tessera_activation_name(len(found) - 1):
        found[name.decode()] = len(found) - 1
    return found


lib = _load()
ACTIVATIONS = _activations()
# tessera_plan_run() of packed_arguments().
plan_run_packed = CFUNCTYPE(c_int32, c_void_p, c_char_p)(("tessera_plan_run", lib))


def version() -> str:
    """The release of the library, "0.1.0"."""
    return lib.tessera_version().decode()


def check(status: int, what: str = "") -> None:
    """Raises what fits the status, with the library's sentence and what the caller says of it."""
    if status == OK:
        return
    message = lib.tessera_last_message().decode() + (f" ({what})" if what else "")
    if status == BAD_ARGUMENT:
        raise ValueError(message)
    kinds = {UNSUPPORTED: UnsupportedError, OUT_OF_MEMORY: OutOfMemoryError}
    raise kinds.get(status, Error)(message)
