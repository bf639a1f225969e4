"""Writes tests/vgpu/instructions/*.ptx, or the same into another folder:

  python3 tests/vgpu/instructions/generator [FOLDER]
"""

import sys
from pathlib import Path

import approximate
import async_copy
import atomic
import barrier
import bits
import calibrate
import bulk_copy
import cluster
import control
import conversion
import core
import fault
import floating
import half
import integer
import matrix
import matrix_fault
import memory
import warp
import wgmma
import wmma

if len(sys.argv) > 1:
    core.FOLDER = Path(sys.argv[1])

for module in (
    integer,
    bits,
    floating,
    half,
    approximate,
    conversion,
    matrix,
    matrix_fault,
    memory,
    atomic,
    control,
    barrier,
    cluster,
    async_copy,
    bulk_copy,
    warp,
    wgmma,
    wmma,
    calibrate,
    fault,
):
    module.write_all()
