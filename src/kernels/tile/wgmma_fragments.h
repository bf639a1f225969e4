// A of wgmma from registers: TF32 that is contiguous along m, which wgmma does not take from shared
// memory. A tile holds rows of 32 m, 128 bytes, one for each k, and 16-byte chunks exchanged by the
// row's number modulo 8. One 128-bit load brings a thread four neighbouring m of one k, and the
// instruction's rows are dealt out so that those are rows 8 apart of two instructions:
//
//   m = 32 * warp + 4 * chunk(lane / 4) + 2 * instruction + half      (half: register i / 2 % 2)
//
// The eight lanes that load together read k 0 ... 3 of chunks 0 and 4: no bank twice.
#pragma once

#include <cstdint>

#include "kernels/ptx/shared_load.h"
#include "kernels/tile/shared_tile.h"

namespace tessera::tile {

// The sixteen bytes of a warp's row of m that belong to a lane.
__device__ constexpr int fragment_chunk(int lane) { return lane / 4 % 2 * 4 + lane / 8; }

// What one warpgroup multiplies by one step of k: 128 rows, two instructions.
template <class Tile>
struct WgmmaFragments {
  static_assert(!Tile::kKMajor && Tile::kRow == 32);
  static constexpr int kStep = ptx::kWgmmaK<Tile::kType>;
  static constexpr int kRowBytesOf4 = 4 * kRowBytes;

  std::uint32_t of[2][4];  // instruction x register

  // Where a thread's first load is in a tile, from the warpgroup's first row on.
  __device__ static std::uint32_t offset(int row, int thread) {
    const int lane = thread % 32, k = lane % 4;
    return (row / 32 + thread / 32 % 4) * Tile::kPanelBytes + k * kRowBytes +
           (fragment_chunk(lane) ^ k) * 16;
  }

  // Step `step` of k. `at`: the tile's address, and the offset above. HW: of the instruction's
  // eight k a thread brings lane % 4 and the one 4 further.
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
  // See ptx::pin.
  __device__ void pin() {
    ptx::pin(of[0]);
    ptx::pin(of[1]);
  }
};

}  // namespace tessera::tile
