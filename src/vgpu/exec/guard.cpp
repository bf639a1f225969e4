// A guard predicate narrows the active lanes for one instruction.
#include "vgpu/exec/guard.h"

#include <bit>

namespace tessera::vgpu {
namespace {

template <bool count>
void run(const Op* first, const Op* last, Lanes& lanes) {
  const std::uint32_t all = lanes.mask;
  for (; first != last; ++first) {
    const std::uint32_t mask = guarded_mask(*first, lanes);
    if (mask == 0) continue;
    if constexpr (count) {
      InstructionCounter& counter = lanes.counters[first->instruction];
      ++counter.warp;
      counter.thread += static_cast<std::uint64_t>(std::popcount(mask));
    }
    lanes.mask = mask;
    first->guarded(first, first + 1, lanes);
    lanes.mask = all;
  }
}

}  // namespace

void run_guarded_and_count(const Op* first, const Op* last, Lanes& lanes) {
  run<true>(first, last, lanes);
}
void run_guarded(const Op* first, const Op* last, Lanes& lanes) { run<false>(first, last, lanes); }

}  // namespace tessera::vgpu
