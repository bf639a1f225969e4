"""Writes tests/vgpu/instructions/*.ptx:  python3 tools/instruction_tests"""

import floating
import integer

integer.write_all()
floating.write_all()
