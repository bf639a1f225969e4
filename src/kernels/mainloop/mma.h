// Multiplies tiles in shared memory into sums in registers, by mma.sync: 16-bit elements and TF32.
// The warps that multiply also copy. Fragments are loaded one step of k ahead of the instructions
// that read them.
#pragma once

#include <cuda/std/type_traits>

#include "kernels/pipeline/cp_async_ring.h"
#include "kernels/tile/mma_accumulators.h"

namespace tessera::mainloop {

// The config `cfg` must have: in, block, warp().
template <auto cfg>
struct MmaStage {
  using T = cuda::std::conditional_t<ptx::bits_of(cfg.in) == 16, std::uint16_t, float>;
  using A = tile::EitherTile<T, cfg.block.m, cfg.block.k>;  // (m, k)
  using B = tile::EitherTile<T, cfg.block.n, cfg.block.k>;  // (n, k)
  static constexpr int kDepth = cfg.block.k;

  A a;
  B b;
};

template <auto cfg>
using MmaAccumulators = tile::MmaAccumulators<cfg.in, cfg.warp().m, cfg.warp().n>;

// Multiplies a warp's part of the tiles in a ring, for given contiguous indices of the operands.
template <auto cfg, class Ring, bool a_along_k, bool b_along_k>
class MmaMainloop {
 public:
  // (row, col) is the origin of the warp's tile in the block's tile.
  __device__ MmaMainloop(MmaAccumulators<cfg>& sums, Ring& ring, int row, int col)
      : sums_(sums),
        ring_(ring),
        at_a_(tile::mma_lane_offset<A, kA>(a_along_k, threadIdx.x % 32, row)),
        at_b_(tile::mma_lane_offset<B, kB>(b_along_k, threadIdx.x % 32, col)) {}

  // Adds A * B to `sums` for all tiles of the ring.
  __device__ void multiply() {
    load(0);
#pragma unroll 1
    while (ring_.has_tile()) multiply_tile();
    ring_.drain();
  }

 private:
  static constexpr auto kA = tile::MmaOperand::kA, kB = tile::MmaOperand::kB;
  using A = typename MmaStage<cfg>::A;
  using B = typename MmaStage<cfg>::B;
  static constexpr int kSteps = cfg.block.k * ptx::bits_of(cfg.in) / (8 * 32);
  static_assert(kSteps % 2 == 0, "two sets of fragments take turns");

  // Loads the fragments for step `i`; step kSteps is the first one of the next tile.
  __device__ void load(int i) {
    a_[i % 2].load(ring_.current().a, a_along_k, at_a_, i % kSteps);
    b_[i % 2].load(ring_.current().b, b_along_k, at_b_, i % kSteps);
  }

  // TRIED: copies spread over the steps, and a separate loop for whole tiles: the TF32 kernel then
  // spills 20 bytes of registers.
  __device__ void multiply_tile() {
    if (ring_.has_next()) {
      ring_.template start_next<false>(0, 1);
    } else {
      ring_.start_nothing();
    }
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      if (i + 1 == kSteps) ring_.finish_next();
      load(i + 1);
      sums_.multiply_add(a_[i % 2], b_[i % 2]);
    }
  }

  MmaAccumulators<cfg>& sums_;
  Ring& ring_;
  int at_a_, at_b_;
  tile::MmaFragments<A, cfg.warp().m / tile::kMmaOuter, kA> a_[2];  // for even and odd steps
  tile::MmaFragments<B, cfg.warp().n / tile::kMmaOuter, kB> b_[2];
};

// sums += A * B for all tiles of the ring. (row, col) is the origin of the warp's tile.
//
// WHY one loop per layout: with a branch at each load of fragments, the compiler moves no matrix
// instruction across the loads.
template <auto cfg, class Ring>
__device__ void multiply_along(MmaAccumulators<cfg>& sums, Ring& ring, int row, int col,
                               bool a_along_k, bool b_along_k) {
  if (a_along_k && b_along_k) {
    MmaMainloop<cfg, Ring, true, true>(sums, ring, row, col).multiply();
  } else if (a_along_k) {
    MmaMainloop<cfg, Ring, true, false>(sums, ring, row, col).multiply();
  } else if (b_along_k) {
    MmaMainloop<cfg, Ring, false, true>(sums, ring, row, col).multiply();
  } else {
    MmaMainloop<cfg, Ring, false, false>(sums, ring, row, col).multiply();
  }
}

}  // namespace tessera::mainloop
