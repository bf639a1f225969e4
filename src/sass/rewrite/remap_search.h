// The search of remap(): assigns registers to live ranges, so that FFMAs find their sources in
// different banks. Internal to src/sass.
#pragma once

#include <cstdint>
#include <vector>

#include "sass/rewrite/remap_ranges.h"

namespace tessera::sass {

// One FFMA of a loop: the ranges that it reads from the banks, not from the reuse cache.
struct FreshReads {
  std::vector<int> ranges;
};

struct RemapSearch {
  int banks = 2;
  bool counts_pairs = true;  // two sources of one bank have a cost; false: only three do
  int steps = 400'000;
  std::uint32_t seed = 1;
};

// Tells for each pair of ranges whether they are live at the same time.
class Meets {
 public:
  explicit Meets(const LiveRanges& live);
  bool operator()(int a, int b) const { return bits_[index(a, b)]; }
  // Must be called after a range has become longer.
  void update(const LiveRanges& live, int range);

 private:
  std::size_t index(int a, int b) const {
    return static_cast<std::size_t>(a) * count_ + static_cast<std::size_t>(b);
  }
  std::size_t count_;
  std::vector<bool> bits_;
};

// Returns the register of each live range. Ranges that `stays` marks keep their registers.
std::vector<int> find_registers(const RemapModel& model, const Meets& meets,
                                const std::vector<FreshReads>& ffmas,
                                const std::vector<bool>& stays, const RemapSearch& search);

}  // namespace tessera::sass
