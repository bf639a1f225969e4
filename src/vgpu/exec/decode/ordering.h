// The memory ordering of an access or fence (.relaxed, .acquire, .release, .acq_rel) and its scope
// (.cta, .cluster, .gpu, .sys).
#pragma once

#include <cstdint>

#include "vgpu/ptx/ast.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu {

// Returns .gpu if the instruction names no scope.
MemoryScope scope_of(const ptx::Instruction& instruction);

// Returns bits for Op::flags. `unnamed` is the order of an instruction that names none.
std::uint32_t ordering_flags(const ptx::Instruction& instruction, MemoryOrder unnamed);

}  // namespace tessera::vgpu
