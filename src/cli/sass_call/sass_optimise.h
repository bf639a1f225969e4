// tessera sass --optimise: puts a cubin's FFMAs in a better order, and proves the code equal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "arch/gpu.h"
#include "lab/record/record.h"
#include "lab/record/report.h"

namespace tessera::cli {

struct Optimised {
  std::string text;  // the changes and proofs, for people
  lab::Json json;
  Table loops;  // cycles and bubbles of loops, before and after, by the port model
};

// The changes to make: other registers for FFMAs (remaps), another order (reorders), or both.
struct Changes {
  bool remaps = false, reorders = true;
  int sm = 0;  // selects one of several cubins in a file; 0: the only cubin
};
// Optimises a cubin and writes the new one to `out`. `target` is a file with one cubin, or a
// kernel of the catalog, whose image for `gpu` is used. `kernel` is a kernel's name, a part of
// names, or empty for all kernels. If the code has a hazard or a proof fails, throws StatusError
// (kFailed) and writes nothing.
Optimised optimise_cubin(const std::string& target, const std::string& kernel, const arch::Gpu& gpu,
                         const std::string& out, const Changes& changes);

}  // namespace tessera::cli
