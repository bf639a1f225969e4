// The order that an access to memory, or a fence, imposes on others: .relaxed, .acquire, .release,
// .acq_rel; and its scope: .cta, .cluster, .gpu, .sys.
#pragma once

#include <cstdint>

#include "vgpu/ptx/ast.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu {

// Scope .gpu if the instruction names none.
MemoryScope scope_of(const ptx::Instruction& instruction);

// For Op::flags. `unnamed` is the order where no modifier names one.
std::uint32_t ordering_flags(const ptx::Instruction& instruction, MemoryOrder unnamed);

}  // namespace tessera::vgpu
