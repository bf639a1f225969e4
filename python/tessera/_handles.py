"""Handles of the library, one for each place, made when they are first needed."""
from __future__ import annotations

import ctypes
import dataclasses
import os
import threading

from . import _library as c

_lock = threading.Lock()
_handles: dict[tuple[int, int], int] = {}


def handle_of(place: int, host_side: int = c.FASTER_SIDE) -> int:
    """The handle of a GPU by its number, or of CPU or ANY_PLACE, and of a side for host arrays."""
    key = place, host_side
    known = _handles.get(key)
    if known is not None:
        return known
    with _lock:
        if key not in _handles:
            made = ctypes.c_void_p()
            c.check(c.lib.tessera_create(made, c.Place(gpu=place, host_side=host_side)))
            _handles[key] = made.value
        return _handles[key]


def _forget() -> None:
    # The child of a fork has no use for its parent's handles, and no thread of it holds the lock.
    global _lock
    _lock = threading.Lock()
    _handles.clear()


os.register_at_fork(after_in_child=_forget)


@dataclasses.dataclass(frozen=True)
class Device:
    """A GPU of this machine."""
    index: int
    name: str
    compute_capability: int  # 90 for 9.0
    sms: int
    memory_bytes: int
    pci_bus_id: str


def devices() -> list[Device]:
    """The GPUs of this machine; an empty list without a driver."""
    count = ctypes.c_int32()
    c.check(c.lib.tessera_device_count(count))
    found = []
    for index in range(count.value):
        info = c.DeviceInfo()
        c.check(c.lib.tessera_device_info(index, info))
        found.append(Device(index, info.name.decode(), info.compute_capability, info.sms,
                            info.memory_bytes, info.pci_bus_id.decode()))
    return found
