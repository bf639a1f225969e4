"""Writes tests/vgpu/instructions/*.ptx:  python3 tools/instruction_tests"""

import atomic
import control
import conversion
import fault
import floating
import integer
import memory
import warp

integer.write_all()
floating.write_all()
conversion.write_all()
memory.write_all()
control.write_all()
warp.write_all()
fault.write_all()
atomic.write_all()
