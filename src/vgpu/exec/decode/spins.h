// Loops that may wait for others: they read what others write, and store nothing.
#pragma once

#include <vector>

#include "vgpu/program/program.h"

namespace tessera::vgpu {

// Sets Control::may_spin of the function's branches.
void mark_spins(const std::vector<InstructionInfo>& instructions, Function& function);

}  // namespace tessera::vgpu
