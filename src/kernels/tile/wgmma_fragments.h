// A of wgmma from registers, for TF32 that is contiguous along m: wgmma cannot read it from shared
// memory. A tile has one row of 32 m, 128 bytes, for each k, with 16-byte chunks exchanged by the
// row's number modulo 8. One 128-bit load reads four neighbouring m of one k. The mapping makes
// these the rows of two instructions, in both halves of eight rows:
//
//   m = 32 * warp + 4 * chunk(lane / 4) + 2 * instruction + half      (half: register i / 2 % 2)
//
// The eight lanes that load together read k 0 ... 3 of two chunks, without bank conflicts.
#pragma once

#include <cstdint>

#include "kernels/ptx/shared_load.h"
#include "kernels/tile/shared_tile.h"

namespace tessera::tile {

// The number of the lane's 16-byte chunk in a warp's row of 32 m.
__device__ constexpr int fragment_chunk(int lane) { return lane / 4 % 2 * 4 + lane / 8; }

// A lane's fragments for one step of k: a warpgroup has 128 rows, in two instructions.
template <class Tile>
struct WgmmaFragments {
  static_assert(!Tile::kKMajor && Tile::kRow == 32);
  static constexpr int kStep = ptx::kWgmmaK<Tile::kType>;
  static constexpr int kRowBytesOf4 = 4 * kRowBytes;

  std::uint32_t of[2][4];  // instruction x register

  // The offset of a thread's first load in a tile. `row` is the warpgroup's first row.
  __device__ static std::uint32_t offset(int row, int thread) {
    const int lane = thread % 32, k = lane % 4;
    return (row / 32 + thread / 32 % 4) * Tile::kPanelBytes + k * kRowBytes +
           (fragment_chunk(lane) ^ k) * 16;
  }

  // Loads step `step` of k. `at`: the tile's address plus offset(). HW: of an instruction's eight
  // k, a thread has lane % 4 and lane % 4 + 4.
  template <int step>
  __device__ void load(std::uint32_t at) {
    constexpr int kAt = step * kStep * kRowBytes;
    float low[4], high[4];
    ptx::load_shared<kAt>(low, at);
    ptx::load_shared<kAt + kRowBytesOf4>(high, at ^ 64);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      of[i / 2][i % 2] = __float_as_uint(low[i]);
      of[i / 2][2 + i % 2] = __float_as_uint(high[i]);
    }
  }
  // Keeps the compiler from moving accesses to the fragments (ptx::pin).
  __device__ void pin() {
    ptx::pin(of[0]);
    ptx::pin(of[1]);
  }
};

}  // namespace tessera::tile
