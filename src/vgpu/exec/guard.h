// Instructions with a guard predicate: @p and @!p.
#pragma once

#include "vgpu/program/op.h"

namespace tessera::vgpu {

// The lowest bit of Op::guard. The other bits are the offset of the predicate.
constexpr std::uint32_t kGuardNegated = 1;

// Runs Op::guarded for the active lanes whose guard is true. The first function also counts these
// lanes; with the second, the first operation of the instruction has counted them.
void run_guarded_and_count(const Op* first, const Op* last, Lanes& lanes);
void run_guarded(const Op* first, const Op* last, Lanes& lanes);

// Returns the active lanes whose guard is true.
inline std::uint32_t guarded_mask(const Op& op, const Lanes& lanes) {
  const auto* predicate =
      reinterpret_cast<const std::uint32_t*>(lanes.registers + (op.guard & ~kGuardNegated));
  return lanes.mask & (op.guard & kGuardNegated ? ~*predicate : *predicate);
}

}  // namespace tessera::vgpu
