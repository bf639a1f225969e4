// The barriers of a ring of stages in shared memory, between the warps that load tiles and the
// warps that multiply them.
//
// tile_loaded[stage]      mbarrier: its phase ends when the stage's copies have arrived
// tile_consumed(stage)    named barrier: consumers arrive, producers wait. WHY: the wait blocks in
//                         hardware; polling would take issue slots from the FFMAs
#pragma once

#include "kernels/ptx/fence.h"
#include "kernels/ptx/mbarrier.h"
#include "kernels/ptx/named_barrier.h"

namespace tessera::pipeline {

// The position of a producer or consumer in the ring: a stage, and the phase of its barrier.
template <int stages>
struct RingPosition {
  int stage = 0;
  unsigned phase = 0;
  bool first_lap = true;

  __device__ void advance() {
    if (++stage == stages) {
      stage = 0;
      phase ^= 1;
      first_lap = false;
    }
  }
};

// `threads`: participants of tile_consumed, the consumers and the producers of one stage.
template <int stages, int threads>
struct Ring {
  ptx::Mbarrier tile_loaded[stages];

  static constexpr int kNamedBarriers = 1 + stages;  // 0 is __syncthreads()
  __device__ static constexpr int tile_consumed(int stage) { return 1 + stage; }

  // One thread calls it; __syncthreads() must follow. `arrivals`: per phase of each tile_loaded.
  __device__ void init(unsigned arrivals) {
    for (ptx::Mbarrier& barrier : tile_loaded) ptx::mbarrier_init(barrier, arrivals);
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_async_shared();
  }

  __device__ static void wait_consumed(int stage) {
    ptx::barrier_sync(tile_consumed(stage), threads);
  }
  __device__ static void arrive_consumed(int stage) {
    ptx::barrier_arrive(tile_consumed(stage), threads);
  }
};

}  // namespace tessera::pipeline
