// A tile of a small product by the threads of a CTA, FP32 on CUDA cores. Tiles in shared memory are
// (k, m) and (k, n) whichever way the operands lie.
#pragma once

#include "kernels/copy/padded_tile_copy.h"
#include "kernels/epilogue/output.h"
#include "kernels/tile/lanes.h"

namespace tessera::mainloop {

// `cfg` says: block, warps, warp(), kLanes, thread(), majors, threads().
template <auto cfg>
class SmallFfma {
 public:
  using A = tile::PaddedTile<float, cfg.block.m, cfg.block.k, false>;
  using B = tile::PaddedTile<float, cfg.block.n, cfg.block.k, false>;
  struct Stage {
    A a;
    B b;
  };

  __device__ explicit SmallFfma(tile::Coord<> warp) {
    const tile::Coord<> lane = tile::lane_coord(cfg.kLanes, threadIdx.x % 32);
    row_ = warp.m * cfg.warp().m + lane.m * kRunM;
    column_ = warp.n * cfg.warp().n + lane.n * kRunN;
  }

  // Begins to copy the operands' tiles from k on.
  __device__ static void start(Stage& stage, const GemmParams& p, tile::Coord<long long> corner,
                               long long k) {
    copy::PaddedTileCopy<cfg.majors.a == Major::kK, cfg.threads(), A>(
        copy::operand_a<float, cfg.majors.a>(p), corner.m, k)
        .start(stage.a);
    copy::PaddedTileCopy<cfg.majors.b == Major::kK, cfg.threads(), B>(
        copy::operand_b<float, cfg.majors.b>(p), corner.n, k)
        .start(stage.b);
  }

  __device__ void multiply(const Stage& stage) {
#pragma unroll
    for (int k = 0; k < cfg.block.k; ++k) {
      float a[kM], b[kN];
      load<kRunM, cfg.kLanes.m>(a, &stage.a.elements[A::place(row_, k)]);
      load<kRunN, cfg.kLanes.n>(b, &stage.b.elements[B::place(column_, k)]);
#pragma unroll
      for (int i = 0; i < kM; ++i) {
#pragma unroll
        for (int j = 0; j < kN; ++j) sum_[i][j] += a[i] * b[j];
      }
    }
  }

  __device__ void store(const GemmParams& p, tile::Coord<long long> corner) const {
    const auto output = epilogue::vector_output_of<float, float>(p);
#pragma unroll
    for (int i = 0; i < kM; ++i) {
#pragma unroll
      for (int j = 0; j < kN; j += kRunN) {
        const float(&run)[kRunN] = reinterpret_cast<const float(&)[kRunN]>(sum_[i][j]);
        output.store_vector(corner.m + row_ + i / kRunM * (cfg.kLanes.m * kRunM) + i % kRunM,
                            corner.n + column_ + j * cfg.kLanes.n, run);
      }
    }
  }

 private:
  static constexpr int kM = cfg.thread().m, kN = cfg.thread().n;
  // Neighbours that a thread has along a side; the next run is all lanes' runs further.
  static constexpr int kRunM = kM < 4 ? kM : 4, kRunN = 4;
  static_assert(kM % kRunM == 0 && kN % kRunN == 0);

  // All runs of one k, each one access.
  template <int run, int lanes, int count>
  __device__ static void load(float (&to)[count], const float* from) {
    struct alignas(4 * run) Run {
      float x[run];
    };
#pragma unroll
    for (int i = 0; i < count; i += run) {
      reinterpret_cast<Run&>(to[i]) = *reinterpret_cast<const Run*>(from + i * lanes);
    }
  }

  float sum_[kM][kN] = {};
  int row_, column_;  // the thread's first output in the tile
};

}  // namespace tessera::mainloop
