"""Writes tests/vgpu/instructions/*.ptx:  python3 tests/vgpu/instructions/generator"""

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
