// Simulates one SM that runs a kernel's main loop: all warps on it, instruction by instruction,
// with the stall cycles and scoreboards that ptxas wrote, units that are busy for a while, one path
// to shared memory and L1, and barriers. A model: it has no instruction cache, and memory is only a
// latency and a rate.
#pragma once

#include <array>

#include "arch/costs.h"
#include "lab/model/loop_code.h"

namespace tessera::lab {

struct Residency {
  int ctas = 1;   // CTAs on the SM at a time
  int warps = 1;  // warps per CTA
};

struct LoopTime {
  double cycles = 0;                  // cycles per iteration of all warps, in the steady state
  double issue = 0;                   // instructions issued in `cycles` by all four partitions
  double misses = 0;                  // cycles for which the path from L2 to the SM was busy
  std::array<double, kUnits> busy{};  // cycles for which each unit was busy; mean of partitions
};

// `l1_hits` is the share of the sectors of global loads that are found in L1.
LoopTime run_loop(const LoopCode& code, const Residency& residency, double l1_hits,
                  const arch::Costs& costs);

}  // namespace tessera::lab
