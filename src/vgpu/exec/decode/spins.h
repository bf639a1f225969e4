// Loops that may wait for other threads: they read what other threads write, and store nothing.
#pragma once

#include <vector>

#include "vgpu/program/program.h"

namespace tessera::vgpu {

// Sets Control::may_spin of the function's backward branches.
void mark_spins(const std::vector<InstructionInfo>& instructions, Function& function);

}  // namespace tessera::vgpu
