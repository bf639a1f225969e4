"""Writes tests/vgpu/instructions/*.ptx:  python3 tools/instruction_tests"""

import approximate
import async_copy
import atomic
import barrier
import bits
import cluster
import control
import conversion
import fault
import floating
import half
import integer
import memory
import warp

for module in (
    integer,
    bits,
    floating,
    half,
    approximate,
    conversion,
    memory,
    atomic,
    control,
    barrier,
    cluster,
    async_copy,
    warp,
    fault,
):
    module.write_all()
