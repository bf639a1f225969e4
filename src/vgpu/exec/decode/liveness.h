// The live intervals of values. Each value gets one interval of positions that covers all places
// where a lane may still read it.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/exec/decode/draft.h"

namespace tessera::vgpu {

// Positions count operations in program order, control instructions included.
struct Interval {
  std::uint32_t first = ~std::uint32_t{0}, last = 0;  // empty while first > last
  bool empty() const { return first > last; }
};

struct Liveness {
  std::vector<Interval> intervals;   // by value
  std::vector<Value> live_at_entry;  // read before they are written, on some path
  // The most 32-bit registers of a lane that hold values at one place, constants left out.
  std::uint32_t most_registers = 0;
};

Liveness find_liveness(const Draft& draft);

}  // namespace tessera::vgpu
