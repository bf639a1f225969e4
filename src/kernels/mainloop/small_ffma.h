// A team of warps computes a tile of a small product, FP32 on CUDA cores. Tiles in shared memory
// have the contiguous index of their operand. Fragments are loaded 128 bits at a time in both
// cases: four neighbours for one k, or four k of one row (or column).
#pragma once

#include "kernels/copy/padded_tile_copy.h"
#include "kernels/epilogue/output.h"
#include "kernels/tile/small_lanes.h"

namespace tessera::mainloop {

// A thread's `count` values of one operand, for four k. `apart`: see SmallPlaces.
template <class Tile, int count, int lanes, bool apart>
struct SmallFragment {
  using Places = tile::SmallPlaces<count, lanes, apart>;
  static constexpr int kDepth = 4;
  float x[kDepth][count];

  // `first`: the position of the thread's first value, for k = 0.
  __device__ void load(const Tile& tile, int first, int k) {
    const float* from = &tile.elements[first + Tile::place(0, k)];
    if constexpr (Tile::kAlongK) {
#pragma unroll
      for (int i = 0; i < count; ++i) {
        const tile::Vector<float> of = vector(from + Tile::place(Places::offset(i), 0));
#pragma unroll
        for (int l = 0; l < kDepth; ++l) x[l][i] = of.x[l];
      }
    } else {
#pragma unroll
      for (int l = 0; l < kDepth; ++l) {
#pragma unroll
        for (int i = 0; i < count; i += Places::kRun) {
          load_run(x[l] + i, from + Tile::place(Places::offset(i), l));
        }
      }
    }
  }

 private:
  __device__ static tile::Vector<float> vector(const float* from) {
    return *reinterpret_cast<const tile::Vector<float>*>(from);
  }
  __device__ static void load_run(float* to, const float* from) {
    if constexpr (Places::kRun == 4) {
      const tile::Vector<float> of = vector(from);
      to[0] = of.x[0], to[1] = of.x[1], to[2] = of.x[2], to[3] = of.x[3];
    } else {
      static_assert(Places::kRun == 2);
      const float2 of = *reinterpret_cast<const float2*>(from);
      to[0] = of.x, to[1] = of.y;
    }
  }
};

// The config `cfg` must have: block, warp(), kLanes, thread(), majors, team().
template <auto cfg>
class SmallFfma {
 public:
  using A = tile::PaddedTile<float, cfg.block.m, cfg.block.k, cfg.majors.a == Major::kK>;
  using B = tile::PaddedTile<float, cfg.block.n, cfg.block.k, cfg.majors.b == Major::kK>;
  struct Stage {
    A a;
    B b;
  };

  __device__ explicit SmallFfma(tile::Coord<> warp) {
    const tile::Coord<> lane = tile::small_lane(threadIdx.x % 32);
    row_ = warp.m * cfg.warp().m + FragmentA::Places::first(lane.m);
    column_ = warp.n * cfg.warp().n + FragmentB::Places::first(lane.n);
  }

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < kM * kN; ++i) sum_[i / kN][i % kN] = 0;
  }

  // Starts the copies of the operands' tiles from k on. `thread`: the thread's index in its team.
  __device__ static void start(Stage& stage, const GemmParams& p, tile::Coord<long long> corner,
                               long long k, int thread) {
    copy::PaddedTileCopy<A, cfg.team()>(copy::operand_a<float, cfg.majors.a>(p), corner.m, k,
                                        thread)
        .start(stage.a);
    copy::PaddedTileCopy<B, cfg.team()>(copy::operand_b<float, cfg.majors.b>(p), corner.n, k,
                                        thread)
        .start(stage.b);
  }

  __device__ void multiply(const Stage& stage) {
    const int at_a = A::place(row_, 0), at_b = B::place(column_, 0);
#pragma unroll
    for (int k = 0; k < cfg.block.k; k += FragmentA::kDepth) {
      FragmentA a;
      FragmentB b;
      a.load(stage.a, at_a, k);
      b.load(stage.b, at_b, k);
#pragma unroll
      for (int l = 0; l < FragmentA::kDepth; ++l) {
#pragma unroll
        for (int i = 0; i < kM; ++i) {
#pragma unroll
          for (int j = 0; j < kN; ++j) sum_[i][j] += a.x[l][i] * b.x[l][j];
        }
      }
    }
  }

  __device__ void store(const GemmParams& p, tile::Coord<long long> corner) const {
    const auto output = epilogue::vector_output_of<float, float>(p).from(corner.m, corner.n);
    const bool whole = output.vectors && output.rows >= cfg.block.m && output.cols >= cfg.block.n;
#pragma unroll
    for (int i = 0; i < kM; ++i) {
      const int row = row_ + FragmentA::Places::offset(i);
#pragma unroll
      for (int j = 0; j < kN; j += 4) {
        const int column = column_ + FragmentB::Places::offset(j);
        const float run[4] = {sum_[i][j], sum_[i][j + 1], sum_[i][j + 2], sum_[i][j + 3]};
        if (whole) {
          output.store_vector_inside(row, column, run);
        } else {
          output.store_vector(row, column, run);
        }
      }
    }
  }

 private:
  static constexpr int kM = cfg.thread().m, kN = cfg.thread().n;
  // WHY apart if rows of A are along k: eight lanes then load neighbouring rows without bank
  // conflicts. B's four lanes have 2-way conflicts.
  using FragmentA = SmallFragment<A, kM, cfg.kLanes.m, A::kAlongK>;
  using FragmentB = SmallFragment<B, kN, cfg.kLanes.n, false>;  // D is stored in vectors along n
  static_assert(FragmentA::kDepth == FragmentB::kDepth && kN % 4 == 0);

  float sum_[kM][kN];
  int row_, column_;  // position of the thread's first output in the tile
};

}  // namespace tessera::mainloop
