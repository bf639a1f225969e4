// The ring of stages between a producer that starts tensor copies and warpgroups that multiply with
// wgmma. Both sides wait on barrier objects:
//
// tile_loaded[stage]    its phase ends when all bytes of the stage have arrived
// tile_consumed[stage]  its phase ends when all readers of what this CTA loads, in any CTA of the
//                       cluster, have finished with it
#pragma once

#include <cstdint>

#include "kernels/ptx/mbarrier.h"

namespace tessera::pipeline {

// Stage and phase travel together.
template <int stages>
struct Position {
  int stage = 0;
  std::uint32_t phase = 0;

  __device__ void advance() {
    if (++stage < stages) return;
    stage = 0;
    phase ^= 1;
  }
  // Over `count` stages that somebody else walks.
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

  // One thread, before anybody uses the ring. `readers`: warps that release each stage.
  __device__ void init(int readers) {
    for (int stage = 0; stage < stages; ++stage) {
      ptx::mbarrier_init(tile_loaded[stage], 1);
      ptx::mbarrier_init(tile_consumed[stage], readers);
    }
  }

  // The producer: returns when the stage is free, and announces the bytes that will come.
  //
  // HW: readers in other CTAs are waited for at the scope of this CTA: what they did was reading,
  // by wgmma that they have waited for. An acquire at cluster scope is CCTL.IVALL, once a stage
  // (seen in the cubin; what it costs has not been timed by itself).
  __device__ void acquire(Position<stages> at) {
    ptx::mbarrier_wait_parity(tile_consumed[at.stage], at.phase ^ 1);
    ptx::mbarrier_arrive_expect_tx(tile_loaded[at.stage], kStageBytes);
  }

  // A consumer: returns when the stage has been loaded.
  __device__ void wait(Position<stages> at) {
    ptx::mbarrier_wait_parity(tile_loaded[at.stage], at.phase);
  }
  // A consumer's warp: it no longer reads the stage, and every CTA that loads into it must know.
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
