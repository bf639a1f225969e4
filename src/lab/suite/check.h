// Is a fast result a right one? A look at a few entries of a few products, recomputed on the host:
// milliseconds, where a whole verification takes longer than timing the cell. The kernels
// themselves are verified by `tessera verify`; this finds a plan that went wrong.
#pragma once

#include <functional>
#include <string>

#include "lab/suite/memory.h"

namespace tessera::lab {

struct SampleCheck {
  bool ok = false;
  double max_error_ratio = 0;  // error over the bound of `tessera verify`
  std::string reason;          // why it is not right
};

// Runs `call` on set 0 once and looks at 6 x 6 entries each of at most three products: the corners
// and seeded rows and columns. D holds NaN there before, or C.
SampleCheck check_samples(Device& device, const DrawnCell& cell, const CellOperands& operands,
                          const std::function<void(const Operands&)>& call);

}  // namespace tessera::lab
