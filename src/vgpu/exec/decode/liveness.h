// The live intervals of values. A value has one interval of positions. It covers all positions at
// which a lane may still read the value.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/exec/decode/draft.h"

namespace tessera::vgpu {

// Positions number the operations in program order, including control instructions.
struct Interval {
  std::uint32_t first = ~std::uint32_t{0}, last = 0;  // empty while first > last
  bool empty() const { return first > last; }
};

struct Liveness {
  std::vector<Interval> intervals;   // by value
  std::vector<Value> live_at_entry;  // read before they are written, on some path
  // The most 32-bit registers of a lane that hold values at one position, without constants.
  std::uint32_t most_registers = 0;
};

Liveness find_liveness(const Draft& draft);

}  // namespace tessera::vgpu
