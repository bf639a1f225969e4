// The sixteen barriers of a CTA. Only whole warps arrive. A barrier opens when as many threads have
// arrived as its first arrival named or, if none are named, all that have not exited.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "vgpu/program/program.h"

namespace tessera::vgpu {

struct Barrier {
  std::uint32_t arrived = 0;   // threads, in whole warps; 0: no thread waits
  std::uint32_t expected = 0;  // threads; 0: all of the CTA that have not exited
  bool reduces = false;
  BarrierKind kind = BarrierKind::kSync;
  std::uint32_t trues = 0, threads = 0;  // reduction: true predicates; all predicates

  // Adds one warp. Returns an error message, or "" if the arrival is legal.
  std::string arrive(BarrierKind kind, std::uint32_t expected, std::uint32_t cta_threads);
  bool is_complete(std::uint32_t live_warps) const {
    return arrived != 0 && arrived >= (expected != 0 ? expected : live_warps * kLanes);
  }
  // The value that bar.red returns to each thread.
  std::uint32_t result() const;
};

}  // namespace tessera::vgpu
