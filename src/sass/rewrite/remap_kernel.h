// Assigns new registers to the live ranges of a compiled kernel, so that FFMAs find their sources
// in different banks. The result is a proposal; patch.h proves it.
#pragma once

#include <vector>

#include "sass/container/cubin.h"
#include "sass/model/ports.h"
#include "sass/model/renamed_values.h"

namespace tessera::sass {

struct RemapOptions {
  int steps = 400'000;  // steps of the search
  unsigned seed = 1;
};

struct RemappedKernel {
  std::vector<Instruction> code;        // empty if nothing is better
  std::vector<BlockRenaming> renaming;  // for the proof
  std::size_t ranges = 0, moved = 0;    // live ranges; ranges with another register
};
// `loops` are the loops of the kernel. The program's architecture determines the rules of the
// banks.
RemappedKernel remap(const Program& program, const std::vector<Loop>& loops,
                     const RemapOptions& options = {});

}  // namespace tessera::sass
