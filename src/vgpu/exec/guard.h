// Guarded instructions: @p and @!p.
#pragma once

#include "vgpu/program/op.h"

namespace tessera::vgpu {

// Low bits of Op::guard; the rest is the predicate's offset.
constexpr std::uint32_t kGuardNegated = 1;

// Runs Op::guarded for the active lanes whose guard holds; counts those lanes, or leaves that to
// the instruction's first operation.
void run_guarded_and_count(const Op* first, const Op* last, Lanes& lanes);
void run_guarded(const Op* first, const Op* last, Lanes& lanes);

// The active lanes whose guard holds.
inline std::uint32_t guarded_mask(const Op& op, const Lanes& lanes) {
  const auto* predicate =
      reinterpret_cast<const std::uint32_t*>(lanes.registers + (op.guard & ~kGuardNegated));
  return lanes.mask & (op.guard & kGuardNegated ? ~*predicate : *predicate);
}

}  // namespace tessera::vgpu
