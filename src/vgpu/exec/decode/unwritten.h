// Finds registers that are read although they cannot have been written.
#pragma once

#include <vector>

#include "vgpu/exec/decode/liveness.h"

namespace tessera::vgpu {

struct UnwrittenValue {
  std::uint32_t instruction = 0;  // the instruction that reads the value
  Value value = kNoValue;
};

// Returns reads that find the register unwritten on every path, the first time they run. A mov of
// an unwritten register is not a read; its destination counts as unwritten. A read by wgmma does
// not count, since wgmma may be told not to read its accumulator.
std::vector<UnwrittenValue> find_unwritten(const Draft& draft, const Liveness& liveness,
                                           const std::vector<InstructionInfo>& instructions);

// Returns reads that find the register unwritten on at least one path; those of find_unwritten()
// are among them. Guarded writes do not count.
std::vector<UnwrittenValue> find_perhaps_unwritten(const Draft& draft, const Liveness& liveness);

}  // namespace tessera::vgpu
