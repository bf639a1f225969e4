// The configs of the kernels for tensor cores of SM 8.0 and later (mma.sync).
#pragma once

#include "base/config.h"
#include "kernels/ptx/matrix_type.h"
#include "kernels/types/stored.h"

namespace tessera::mma {

// A config does not depend on the layout or the alignment of operands: one kernel takes all of
// them, so that few kernels are needed for many types and tiles.
struct Config {
  ptx::MatrixType in;
  ElementType out;
  BlockTile block;   // k: depth of a stage
  int stages;        // in the ring in shared memory
  OutputTile warps;  // per block
  int ctas;          // per SM, which limits the registers of a thread

  constexpr int threads() const { return 32 * warps.m * warps.n; }
  constexpr int ctas_per_sm() const { return ctas; }
  constexpr OutputTile warp() const { return {block.m / warps.m, block.n / warps.n}; }

  constexpr int row() const { return 128 * 8 / ptx::bits_of(in); }  // elements per shared row
  constexpr int ring_bytes() const {
    return stages * block.k * (block.m + block.n) * ptx::bits_of(in) / 8;
  }
  // The bytes of the ring, and of descriptions of the CTA's current and next work.
  constexpr int shared_bytes() const { return ring_bytes() + 256; }
};

constexpr bool is_power_of_two(int x) { return x > 0 && (x & (x - 1)) == 0; }

constexpr bool is_legal(const Config& c) {
  constexpr int kShared = 99 * 1024;  // HW: per block, compute capabilities 8.6, 8.9 and 12.0
  const OutputTile warp = c.warp();
  const bool warps = warp.m * c.warps.m == c.block.m && warp.n * c.warps.n == c.block.n &&
                     is_power_of_two(warp.m) && is_power_of_two(warp.n) && warp.m >= 16 &&
                     warp.n >= 16;
  // Rows of a shared tile are full, whichever index of the operand is contiguous. In pieces of 16
  // bytes, the threads copy at least eight lines at a time, and each thread at least four pieces.
  const int chunk = c.row() / 8;
  const int longest = c.block.m > c.block.n ? c.block.m : c.block.n;
  const int fewest = c.block.m < c.block.n ? c.block.m : c.block.n;
  const bool copies = c.block.k % c.row() == 0 && c.block.m % c.row() == 0 &&
                      c.block.n % c.row() == 0 && is_power_of_two(c.block.m) &&
                      is_power_of_two(c.block.n) && is_power_of_two(c.block.k) &&
                      is_power_of_two(c.threads()) && c.threads() >= longest &&
                      c.threads() >= c.block.k && 4 * c.threads() <= fewest * (c.block.k / chunk);
  // Registers: sums, two sets of fragments, and 48 for everything else in the loop.
  const int registers = warp.m * warp.n / 32 + (warp.m + warp.n) / 2 + 48;
  return warps && copies && c.stages >= 2 && c.shared_bytes() <= kShared &&
         registers * c.threads() * c.ctas <= 64 * 1024 && registers <= 255;
}

namespace detail {

using ptx::MatrixType;

// The large tile reads half as much from L2 and shared memory; the small tile suits problems with
// few tiles. Members: block, stages, warps, CTAs per SM. Tuned on an H100.
//
// TRIED: 128x128 with one CTA of 2 x 4 warps: a quarter slower on an H100 if rows are at multiples
// of 4 bytes or more, a little faster at odd multiples of 2. Fragments of B in the order of A's:
// one more move per instruction, and a seventh slower.
constexpr auto rows_for(MatrixType in, ElementType out) {
  const int k = 128 * 8 / ptx::bits_of(in);
  return rows_of<Config>({
      {"128x128", {in, out, {128, 128, k}, 3, {2, 2}, 2}},
      {"64x64", {in, out, {64, 64, k}, 3, {2, 2}, 3}},
  });
}

}  // namespace detail

inline constexpr auto kBf16 = detail::rows_for(ptx::MatrixType::kBF16, ElementType::kBf16);
inline constexpr auto kBf16F32 = detail::rows_for(ptx::MatrixType::kBF16, ElementType::kF32);
inline constexpr auto kF16 = detail::rows_for(ptx::MatrixType::kF16, ElementType::kF16);
inline constexpr auto kF16F32 = detail::rows_for(ptx::MatrixType::kF16, ElementType::kF32);
inline constexpr auto kTf32 = detail::rows_for(ptx::MatrixType::kTF32, ElementType::kF32);

}  // namespace tessera::mma
