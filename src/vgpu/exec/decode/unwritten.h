// Registers that are read although nothing can have written them.
#pragma once

#include <vector>

#include "vgpu/exec/decode/liveness.h"

namespace tessera::vgpu {

struct UnwrittenValue {
  std::uint32_t instruction = 0;  // the instruction that reads the value
  Value value = kNoValue;
};

// Reads that find an unwritten register the first time they run, on every path. A copy of such a
// register is not a read, but passes the state on; wgmma may be set not to read its accumulator, so
// it does not count.
std::vector<UnwrittenValue> find_unwritten(const Draft& draft, const Liveness& liveness,
                                           const std::vector<InstructionInfo>& instructions);

// Reads that find an unwritten register on at least one path, those above included. Guarded writes
// are not counted.
std::vector<UnwrittenValue> find_perhaps_unwritten(const Draft& draft, const Liveness& liveness);

}  // namespace tessera::vgpu
