// Checks the result of a timed call: recomputes a few entries of a few products on the host. That
// takes milliseconds, while a whole verification takes longer than timing the cell. `tessera
// verify` verifies the kernels themselves; the check here finds wrong plans.
#pragma once

#include <functional>
#include <string>

#include "lab/suite/memory.h"

namespace tessera::lab {

struct SampleCheck {
  bool ok = false;
  double max_error_ratio = 0;  // error over the bound of `tessera verify`
  std::string reason;          // why the result is wrong
};

// Runs `call` once on set 0 and checks 6 x 6 entries of at most three products: corners, and seeded
// rows and columns. Before the run, D holds NaN, or C.
SampleCheck check_samples(Device& device, const DrawnCell& cell, const CellOperands& operands,
                          const std::function<void(const Operands&)>& call);

}  // namespace tessera::lab
