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

  __device__ Consumer(const Ring<cfg>& ring, tile::LanePlace lane, OutputTile warp)
      : place_{ptx::kept_in_register(ptx::shared_address(
                   &ring.a[0][0][warp.m * (cfg.block.m / cfg.warps.m) + lane.m * tile::kVector])),
               ptx::kept_in_register(ptx::shared_address(
                   &ring.b[0][0][warp.n * (cfg.block.n / cfg.warps.n) + lane.n * tile::kVector]))},
        loaded_(ptx::kept_in_register(ptx::shared_address(ring.tile_loaded))) {
    ptx::mbarrier_wait_parity_at(loaded_, 0);
    work_.load_first(place_);
    enter_next_stage();
  }

  // sum += the product of the next `stages` stages.
  __device__ void multiply(int stages) {
#pragma unroll 1
    for (int pass = 0; pass < stages * kPasses; ++pass) {
      const bool leaves = pass % kPasses == kPasses - 1;  // the stage is read for the last time
      const Place next = place_behind(leaves);
      const int released = stage_before();
      const bool ready = ptx::mbarrier_try_wait_parity_if(leaves, loaded_, phase_);
      constexpr int kHalf = tile::Multiplier<cfg>::kQuarters / 2;
      work_.template multiply<0, kHalf>(place_, place_);
      if (!ready) ptx::mbarrier_wait_parity_at(loaded_, phase_);
      if (leaves) enter_next_stage();
      work_.template multiply<kHalf, 2 * kHalf>(place_, next);
      ptx::barrier_arrive_if(leaves, tile_consumed(released), cfg.threads());
      place_ = next;
    }
  }

  __device__ tile::Multiplier<cfg>& work() { return work_; }

 private:
  // `stage_` is the one to come: the next whose barrier is waited for.
  __device__ void enter_next_stage() {
    loaded_ += sizeof(ptx::Mbarrier);
    if (++stage_ < cfg.stages) return;
    stage_ = 0;
    phase_ ^= 1;
    loaded_ -= cfg.stages * sizeof(ptx::Mbarrier);
  }
  __device__ int stage_before() const { return stage_ == 0 ? cfg.stages - 1 : stage_ - 1; }
  __device__ Place place_behind(bool leaves) const {
    Place next{place_.a + 4 * tile::kPassDepth * cfg.pitch_a(),
               place_.b + 4 * tile::kPassDepth * cfg.pitch_b()};
    if (leaves && stage_ == 0) {
      next.a -= 4 * cfg.stages * cfg.stage_a();
      next.b -= 4 * cfg.stages * cfg.stage_b();
    }
    return next;
  }

  tile::Multiplier<cfg> work_;
  Place place_;
  std::uint32_t loaded_;
  int stage_ = 0;
  unsigned phase_ = 0;
};

}  // namespace tessera::pipeline
