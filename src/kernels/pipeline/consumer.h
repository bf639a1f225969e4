// The warps that multiply, as they walk the ring: a stage costs about twenty instructions beside
// the LDS.128 and FFMAs of tile/multiplier.h.
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
  using Multiplier = tile::Multiplier<cfg>;
  using Place = typename Multiplier::Place;

  // `group` is the warp's: its share of each stage's k.
  __device__ Consumer(const Ring<cfg>& ring, tile::LanePlace lane, OutputTile warp, int group = 0)
      : first_{ptx::kept_in_register(ptx::shared_address(
                   &ring.a[0][group * Multiplier::kDepth]
                          [warp.m * (cfg.block.m / cfg.warps.m) + lane.m * tile::kVector])),
               ptx::kept_in_register(ptx::shared_address(
                   &ring.b[0][group * Multiplier::kDepth]
                          [warp.n * (cfg.block.n / cfg.warps.n) + lane.n * tile::kVector]))},
        loaded_(ptx::shared_address(&ring.tile_loaded[0])) {
    ptx::mbarrier_wait_parity_at(loaded_, 0);
    work_.load_first(first_);
  }

  // sum += the product of the next `stages` stages. The next stage is asked for early and waited
  // for late, amid the FFMAs.
  __device__ void multiply(int stages) {
    constexpr int kHalf = Multiplier::kQuarters / 2;
#pragma unroll 1
    for (; stages > 0; --stages) {
      const bool wraps = stage_ == cfg.stages - 1;
      const int next = wraps ? 0 : stage_ + 1;
      if (wraps) phase_ ^= 1;
      const bool ready = ptx::mbarrier_try_wait_parity_at(loaded(next), phase_);
      work_.template multiply<0, kHalf>(place(stage_), place(stage_));
      if (!ready) ptx::mbarrier_wait_parity_at(loaded(next), phase_);
      work_.template multiply<kHalf, 2 * kHalf>(place(stage_), place(next));
      ptx::barrier_arrive(tile_consumed(stage_), kMeeting<cfg>);
      stage_ = next;
    }
  }

  __device__ Multiplier& work() { return work_; }

 private:
  __device__ Place place(int stage) const {
    return {first_.a + 4 * cfg.stage_a() * stage, first_.b + 4 * cfg.stage_b() * stage};
  }
  __device__ std::uint32_t loaded(int stage) const {
    return loaded_ + static_cast<std::uint32_t>(sizeof(ptx::Mbarrier)) * stage;
  }

  Multiplier work_;
  Place first_;           // in stage 0
  std::uint32_t loaded_;  // barrier object of stage 0
  int stage_ = 0;         // that is multiplied,
  unsigned phase_ = 0;    // and the phase of its barrier
};

}  // namespace tessera::pipeline
