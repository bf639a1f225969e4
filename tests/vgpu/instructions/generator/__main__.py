"""Writes tests/vgpu/instructions/*.ptx, or the same into another folder:

  python3 tests/vgpu/instructions/generator [FOLDER]
"""

import sys
from pathlib import Path

import core
import fault
from arithmetic import (
    approximate,
    bits,
    conversion,
    eight_bits,
    float_conversion,
    float_nan,
    float_order,
    floating,
    half,
    integer,
    integer_compare,
)
from matrix import calibrate, matrix_fault, mma, wgmma, wmma
from memory import async_copy, atomic, bulk_copy, load_store, state_spaces, tensor_copy
from threads import barrier, cluster, control, hints, warp

FAMILIES = (
    *(integer, integer_compare, bits),
    *(floating, float_order, float_nan, half, approximate, conversion, float_conversion),
    eight_bits,
    *(mma, matrix_fault, wgmma, wmma, calibrate),
    *(load_store, state_spaces, atomic, async_copy, bulk_copy, tensor_copy),
    *(control, barrier, cluster, warp, hints),
    fault,
)

if len(sys.argv) > 1:
    core.FOLDER = Path(sys.argv[1])
for family in FAMILIES:
    family.write_all()
