// Configs for BF16, FP16 and TF32 on GPUs whose tensor cores are not used: those of SM 7.5 lack
// BF16 and TF32, and have other FP16 instructions. One small tile, any strides: slow but correct.
#pragma once

#include "base/config.h"
#include "kernels/ptx/matrix_type.h"
#include "kernels/types/stored.h"

namespace tessera::mma_by_ffma {

struct Config {
  ptx::MatrixType in;
  ElementType out;
  BlockTile block;    // k: depth of the tiles in shared memory
  OutputTile thread;  // outputs of one thread
  Majors majors = {};

  constexpr OutputTile thread_grid() const { return {block.m / thread.m, block.n / thread.n}; }
  constexpr int threads() const { return thread_grid().m * thread_grid().n; }
  constexpr int ctas_per_sm() const { return 2; }
  // Floats from one k to the next in a shared tile. HW: no bank conflicts when a warp stores two
  // lines of sixteen k each, or reads neighbours along the other index.
  static constexpr int pitch(int outer) { return outer + 2; }
};

constexpr bool is_legal(const Config& c) {
  constexpr int kStaticShared = 48 * 1024;  // HW: per block, without a request for more
  const bool grid = c.thread_grid().m * c.thread.m == c.block.m &&
                    c.thread_grid().n * c.thread.n == c.block.n && c.thread_grid().n == 16;
  const bool copies = c.block.k == 16 && c.block.m % 32 == 0 && c.block.n % 32 == 0 &&
                      c.block.m * c.block.k % c.threads() == 0 &&
                      c.block.n * c.block.k % c.threads() == 0 && c.threads() % c.block.m == 0 &&
                      c.threads() % c.block.n == 0;
  return grid && copies && c.threads() <= 1024 &&
         c.block.k * (c.pitch(c.block.m) + c.pitch(c.block.n)) * 4 <= kStaticShared;
}

namespace detail {

constexpr auto rows_for(ptx::MatrixType in, ElementType out) {
  return rows_of<Config>({{"64x64", {in, out, {64, 64, 16}, {4, 4}}}});
}

}  // namespace detail

inline constexpr auto kBf16 = detail::rows_for(ptx::MatrixType::kBF16, ElementType::kBf16);
inline constexpr auto kBf16F32 = detail::rows_for(ptx::MatrixType::kBF16, ElementType::kF32);
inline constexpr auto kF16 = detail::rows_for(ptx::MatrixType::kF16, ElementType::kF16);
inline constexpr auto kF16F32 = detail::rows_for(ptx::MatrixType::kF16, ElementType::kF32);
inline constexpr auto kTf32 = detail::rows_for(ptx::MatrixType::kTF32, ElementType::kF32);

}  // namespace tessera::mma_by_ffma
