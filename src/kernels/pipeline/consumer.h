// The warps that multiply, as they walk the ring: a pass of 8 steps in k costs a dozen instructions
// beside the LDS.128 and FFMAs of tile/multiplier.h.
#pragma once

#include "kernels/pipeline/ring.h"
#include "kernels/ptx/address.h"
#include "kernels/ptx/named_barrier.h"
#include "kernels/tile/multiplier.h"

namespace tessera::pipeline {

// Walks the ring: one object a thread, kept over all items of its CTA.
template <auto cfg>
class Consumer {
 public:
  using Place = typename tile::Multiplier<cfg>::Place;
  static constexpr int kPasses = cfg.block.k / tile::kPassDepth;  // of a stage
  static constexpr int kStride = kGroups<cfg>;                    // stages from one to the next

  // `group` is the warp's: the first stage that it reads.
  __device__ Consumer(const Ring<cfg>& ring, tile::LanePlace lane, OutputTile warp, int group = 0)
      : place_{ptx::kept_in_register(
                   ptx::shared_address(&ring.a[group][0][warp.m * (cfg.block.m / cfg.warps.m) +
                                                         lane.m * tile::kVector])),
               ptx::kept_in_register(
                   ptx::shared_address(&ring.b[group][0][warp.n * (cfg.block.n / cfg.warps.n) +
                                                         lane.n * tile::kVector]))},
        loaded_(ptx::kept_in_register(ptx::shared_address(&ring.tile_loaded[group]))),
        behind_(cfg.stages - 1 - group) {
    static_assert(cfg.stages % kStride == 0 && cfg.stages > kStride);
    ptx::mbarrier_wait_parity_at(loaded_, 0);
    work_.load_first(place_);
    loaded_ += kStride * sizeof(ptx::Mbarrier);
  }

  // sum += the product of the group's next `stages` stages. What a change of stages needs is done
  // under predicates, amid the FFMAs. TRIED: a branch for it, taken once a stage: 2 % slower, its
  // waits stand bare.
  __device__ void multiply(int stages) {
    constexpr int kHalf = tile::Multiplier<cfg>::kQuarters / 2;
    const int passes = stages * kPasses;
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
      const bool leaves = pass % kPasses == kPasses - 1;  // the stage is read for the last time
      const bool wraps = leaves && behind_ < kStride;
      const Place next = place_behind(leaves, wraps);
      const bool ready = ptx::mbarrier_try_wait_parity_if(leaves, loaded_, phase_);
      const int released = tile_consumed<cfg.stages>(cfg.stages - 1 - behind_);
      work_.template multiply<0, kHalf>(place_, place_);
      if (!ready) ptx::mbarrier_wait_parity_at(loaded_, phase_);
      if (leaves) behind_ -= kStride, loaded_ += kStride * sizeof(ptx::Mbarrier);
      if (wraps) behind_ += cfg.stages;
      if (leaves && behind_ < kStride) {  // the one to wait for then is in the next lap
        loaded_ -= cfg.stages * sizeof(ptx::Mbarrier);
        phase_ ^= 1;
      }
      work_.template multiply<kHalf, 2 * kHalf>(place_, next);
      ptx::barrier_arrive_if(leaves, released, kMeeting<cfg>);
      place_ = next;
    }
  }

  __device__ tile::Multiplier<cfg>& work() { return work_; }

 private:
  __device__ Place place_behind(bool leaves, bool wraps) const {
    Place next{place_.a + 4 * tile::kPassDepth * cfg.pitch_a(),
               place_.b + 4 * tile::kPassDepth * cfg.pitch_b()};
    if (kStride > 1 && leaves) {  // over the stages of the others
      next.a += 4 * (kStride - 1) * cfg.stage_a();
      next.b += 4 * (kStride - 1) * cfg.stage_b();
    }
    if (wraps) {
      next.a -= 4 * cfg.stages * cfg.stage_a();
      next.b -= 4 * cfg.stages * cfg.stage_b();
    }
    return next;
  }

  tile::Multiplier<cfg> work_;
  Place place_;
  std::uint32_t loaded_;  // barrier of the stage to come,
  unsigned phase_ = 0;    // and its phase
  int behind_;            // stages behind the one that is read, to the ring's end
};

}  // namespace tessera::pipeline
