// The producer and the consumer of a ring of stages that FFMAs multiply. The consumer's loop costs
// about twenty instructions per stage in addition to the LDS.128 and FFMAs of ffma.h.
#pragma once

#include "kernels/copy/load_stage.h"
#include "kernels/mainloop/ffma.h"
#include "kernels/pipeline/ring.h"
#include "kernels/ptx/address.h"

namespace tessera::mainloop {

template <auto cfg>
inline constexpr int kConsumers = cfg.threads() - cfg.kProducers;

// The shared memory of producers and consumers: tiles, and the barriers of their stages.
template <auto cfg>
struct FfmaStages {
  using Ring = pipeline::Ring<cfg.stages, kConsumers<cfg> + copy::StageLoad<cfg>::kThreads>;

  tile::Stages<cfg> tiles;
  Ring ring;

  // Called by one thread; __syncthreads() must follow.
  __device__ void init() { ring.init(copy::StageLoad<cfg>::kArrivals); }
};

// Loads the tiles that begin at (m, k) and (k, n) into the next stage, as soon as it is free. All
// loading threads call it for all stages; each warp skips stages that another warp loads.
template <auto cfg, class Params>
__device__ void load_next(FfmaStages<cfg>& shared, pipeline::RingPosition<cfg.stages>& position,
                          const Params& p, long long m, long long n, long long k) {
  const int stage = position.stage;
  const bool mine =
      copy::StageLoad<cfg>::kThreads > 32 || threadIdx.x / 32 == copy::loading_warp(stage);
  if (mine) {
    if (!position.first_lap) shared.ring.wait_consumed(stage);
    copy::load_stage<cfg>(shared.tiles, shared.ring.tile_loaded[stage], p, stage, m, n, k);
  }
  position.advance();
}

// The loop of the warps that multiply: one object per thread, for all work items of its CTA.
template <auto cfg>
class FfmaMainloop {
 public:
  using Steps = FfmaSteps<cfg>;
  using Addresses = typename Steps::Addresses;

  // `slice`: the number of the part of each stage's k that this warp multiplies.
  __device__ FfmaMainloop(const FfmaStages<cfg>& shared, tile::Coord<> lane, tile::Coord<> warp,
                          int slice = 0)
      : first_{ptx::kept_in_register(ptx::shared_address(
                   &shared.tiles.a[0][slice * Steps::kDepth]
                                  [warp.m * (cfg.block.m / cfg.warps.m) + lane.m * tile::kVector])),
               ptx::kept_in_register(ptx::shared_address(
                   &shared.tiles.b[0][slice * Steps::kDepth][warp.n * (cfg.block.n / cfg.warps.n) +
                                                             lane.n * tile::kVector]))},
        loaded_(ptx::shared_address(&shared.ring.tile_loaded[0])) {
    ptx::mbarrier_wait_parity_at(loaded_, 0);
    steps_.load_first(first_);
  }

  // Adds the product of the next `stages` stages to the accumulators. The barrier of the next stage
  // is tested before the FFMAs of a stage, and waited for in the middle of them.
  __device__ void multiply(int stages) {
    constexpr int kHalf = Steps::kVectors / 2;
#pragma unroll 1
    for (; stages > 0; --stages) {
      const bool wraps = stage_ == cfg.stages - 1;
      const int next = wraps ? 0 : stage_ + 1;
      if (wraps) phase_ ^= 1;
      const bool ready = ptx::mbarrier_try_wait_parity_at(loaded(next), phase_);
      steps_.template multiply<0, kHalf>(addresses(stage_), addresses(stage_));
      if (!ready) ptx::mbarrier_wait_parity_at(loaded(next), phase_);
      steps_.template multiply<kHalf, 2 * kHalf>(addresses(stage_), addresses(next));
      FfmaStages<cfg>::Ring::arrive_consumed(stage_);
      stage_ = next;
    }
  }

  __device__ auto& accumulators() { return steps_.accumulators; }

 private:
  __device__ Addresses addresses(int stage) const {
    return {first_.a + 4 * cfg.stage_a() * stage, first_.b + 4 * cfg.stage_b() * stage};
  }
  __device__ std::uint32_t loaded(int stage) const {
    return loaded_ + static_cast<std::uint32_t>(sizeof(ptx::Mbarrier)) * stage;
  }

  Steps steps_;
  Addresses first_;       // addresses in stage 0
  std::uint32_t loaded_;  // address of stage 0's barrier
  int stage_ = 0;         // the current stage
  unsigned phase_ = 0;    // the phase of its barrier
};

}  // namespace tessera::mainloop
