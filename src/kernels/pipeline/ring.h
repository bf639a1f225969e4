// The ring of stages between the warps that fetch and the warps that multiply. Tiles stand in it as
// (k, m) and (k, n), so that fragments are 128-bit reads whatever side the operands are contiguous
// along.
//
// tile_loaded[stage]   barrier object: its phase ends when the stage's copies have arrived
// tile_consumed(stage) named barrier: those who multiply arrive, those who fetch wait. It blocks in
//                      hardware, while a poll would take issue slots from the FFMAs
#pragma once

#include "base/config.h"
#include "kernels/ptx/mbarrier.h"

namespace tessera::pipeline {

// `cfg` says: block, stages, fetches, pitch_a(), pitch_b(), stage_a(), stage_b() (floats),
// kProducers (threads that fetch).
template <auto cfg>
struct Ring {
  alignas(128) float a[cfg.stages][cfg.block.k][cfg.pitch_a()];
  alignas(128) float b[cfg.stages][cfg.block.k][cfg.pitch_b()];
  ptx::Mbarrier tile_loaded[cfg.stages];

  static constexpr bool kTensorA = cfg.fetches.a == Fetch::kTensor;
  static constexpr bool kTensorB = cfg.fetches.b == Fetch::kTensor;
  // One thread announces the bytes of tensor copies; all that copy by themselves arrive.
  static constexpr int kArrivals =
      (kTensorA || kTensorB ? 1 : 0) + (kTensorA && kTensorB ? 0 : cfg.kProducers);
  static constexpr int kTensorBytes =
      4 * ((kTensorA ? cfg.stage_a() : 0) + (kTensorB ? cfg.stage_b() : 0));
};

// Threads that fetch each stage: where all of it comes by tensor copies one warp, else all.
template <auto cfg>
inline constexpr int kFetchersOfStage =
    Ring<cfg>::kTensorA&& Ring<cfg>::kTensorB ? 32 : cfg.kProducers;
// The fetching warps stand on four sub-cores and take turns, so that none loses more issue slots.
__device__ constexpr int fetching_warp(int stage) { return stage % 4; }
// Threads that meet at tile_consumed().
template <auto cfg>
inline constexpr int kMeeting = cfg.threads() - cfg.kProducers + kFetchersOfStage<cfg>;

// Named barrier of a stage; 0 belongs to __syncthreads().
__device__ constexpr int tile_consumed(int stage) { return 1 + stage; }

// Where a role stands in the ring.
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

}  // namespace tessera::pipeline
