"""Writes tests/vgpu/instructions/*.ptx:  python3 tools/instruction_tests"""

import integer

integer.write_all()
