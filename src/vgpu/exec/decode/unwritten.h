// Registers that are read although nothing can have written them.
#pragma once

#include <vector>

#include "vgpu/exec/decode/liveness.h"

namespace tessera::vgpu {

struct UnwrittenValue {
  std::uint32_t instruction = 0;  // that reads it
  Value value = kNoValue;
};

// Reads that meet an unwritten register the first time they run, whichever way led there. Copies of
// such a register are not reads, but pass it on; wgmma may be told not to read what it adds to, so
// it does not count.
std::vector<UnwrittenValue> find_unwritten(const Draft& draft, const Liveness& liveness,
                                           const std::vector<InstructionInfo>& instructions);

// Reads that meet an unwritten register on one way at least, those above included. A guarded write
// counts as none.
std::vector<UnwrittenValue> find_perhaps_unwritten(const Draft& draft, const Liveness& liveness);

}  // namespace tessera::vgpu
