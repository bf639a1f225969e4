// The ring of stages between a producer that starts tensor copies and warpgroups that multiply with
// wgmma. Both sides wait on barrier objects:
//
// tile_loaded[stage]    its phase ends when all bytes of the stage have arrived
// tile_consumed[stage]  its phase ends when all warps, in any CTA of the cluster, that read what
//                       this CTA loads into the stage have read it
#pragma once

#include <cstdint>

#include "kernels/ptx/mbarrier.h"

namespace tessera::pipeline {

// A position in the ring: the stage, and the phase of its barriers.
template <int stages>
struct Position {
  int stage = 0;
  std::uint32_t phase = 0;

  __device__ void advance() {
    if (++stage < stages) return;
    stage = 0;
    phase ^= 1;
  }
  // Skips `count` stages, which another consumer reads.
  __device__ void advance(int count) {
    const int to = stage + count;
    phase ^= to / stages & 1;
    stage = to % stages;
  }
};

template <class TileA, class TileB, int stages>
struct MbarrierRing {
  using A = TileA;
  using B = TileB;
  static constexpr int kStages = stages;
  static constexpr std::uint32_t kStageBytes = TileA::kBytes + TileB::kBytes;

  TileA a[stages];
  TileB b[stages];
  ptx::Mbarrier tile_loaded[stages], tile_consumed[stages];

  // Called by one thread before the ring is used. `readers`: warps that release each stage.
  __device__ void init(int readers) {
    for (int stage = 0; stage < stages; ++stage) {
      ptx::mbarrier_init(tile_loaded[stage], 1);
      ptx::mbarrier_init(tile_consumed[stage], readers);
    }
  }

  // For the producer: waits until the stage is free, and announces the bytes that will arrive.
  //
  // WHY the wait acquires at CTA scope: readers in other CTAs only read, by wgmma that have ended.
  // HW: an acquire at cluster scope is compiled to CCTL.IVALL, once per stage (seen in the cubin;
  // its cost was not measured separately).
  __device__ void acquire(Position<stages> at) {
    ptx::mbarrier_wait_parity(tile_consumed[at.stage], at.phase ^ 1);
    ptx::mbarrier_arrive_expect_tx(tile_loaded[at.stage], kStageBytes);
  }

  // For a consumer: waits until the stage has been loaded.
  __device__ void wait(Position<stages> at) {
    ptx::mbarrier_wait_parity(tile_loaded[at.stage], at.phase);
  }
  // For a consumer's warp that no longer reads the stage: signals every CTA that loads into it.
  // `place` is a schedule::ClusterPlace.
  template <class Place>
  __device__ void release(int stage, Place place) {
    const int lane = threadIdx.x % 32;
    if constexpr (Place::kSize == 1) {
      if (lane == 0) ptx::mbarrier_arrive(tile_consumed[stage]);
    } else if (lane < Place::kPartners) {
      ptx::mbarrier_arrive_after_reads(tile_consumed[stage], place.partner(lane));
    }
  }
};

}  // namespace tessera::pipeline
