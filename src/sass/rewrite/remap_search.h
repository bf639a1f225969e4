// The search behind remap(): which live range lives in which register, so that FFMAs find their
// sources in different banks. Internal to src/sass.
#pragma once

#include <cstdint>
#include <vector>

#include "sass/rewrite/remap_ranges.h"

namespace tessera::sass {

// One FFMA of a loop: the ranges that it takes from the banks, those that the reuse cache keeps
// left out.
struct FreshReads {
  std::vector<int> ranges;
};

struct RemapSearch {
  int banks = 2;
  bool counts_pairs = true;  // two sources of one bank cost something; otherwise only three do
  int steps = 400'000;
  std::uint32_t seed = 1;
};

// By live range: its register. Ranges that `stays` names keep theirs.
std::vector<int> find_registers(const RemapModel& model, const std::vector<FreshReads>& ffmas,
                                const std::vector<bool>& stays, const RemapSearch& search);

}  // namespace tessera::sass
