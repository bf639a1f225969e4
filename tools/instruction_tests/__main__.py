"""Writes tests/vgpu/instructions/*.ptx:  python3 tools/instruction_tests"""

import approximate
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
    warp,
    fault,
):
    module.write_all()
