// The configs of the kernels for batches of small products, in all types. With few warps per tile
// and many CTAs per SM, the operands of thousands of products are in flight at the same time.
#pragma once

#include "base/config.h"
#include "kernels/ptx/matrix_type.h"
#include "kernels/types/stored.h"

namespace tessera::small {

enum class Arithmetic {
  kFfma,  // FP32 on CUDA cores
  kMma,   // 16-bit types on tensor cores
  kDmma,  // FP64 on tensor cores
};

struct Config {
  Arithmetic by;
  BlockTile block;   // k: depth of a stage
  OutputTile warps;  // per team, which computes one tile at a time
  int teams;         // per CTA, each with its own tiles
  int ctas;          // per SM, which limits the registers of a thread
  // The operand and D types, only for products on tensor cores.
  ptx::MatrixType in = ptx::MatrixType::kBF16;
  ElementType out = ElementType::kF32;
  Majors majors = {};

  constexpr int team() const { return 32 * warps.m * warps.n; }  // threads
  constexpr int threads() const { return teams * team(); }
  constexpr int ctas_per_sm() const { return ctas; }
  constexpr OutputTile warp() const { return {block.m / warps.m, block.n / warps.n}; }
  constexpr int element_bytes() const {
    return by == Arithmetic::kDmma ? 8 : by == Arithmetic::kFfma ? 4 : 2;
  }
  // For FP32: the lanes are eight by four; a lane has neighbouring outputs in both directions.
  static constexpr OutputTile kLanes{8, 4};
  constexpr OutputTile thread() const { return {warp().m / kLanes.m, warp().n / kLanes.n}; }
};

constexpr bool is_power_of_two(int x) { return x > 0 && (x & (x - 1)) == 0; }

constexpr bool is_legal(const Config& c) {
  constexpr int kStaticShared = 48 * 1024;  // HW: per block, without a request for more
  const OutputTile warp = c.warp();
  const bool warps = warp.m * c.warps.m == c.block.m && warp.n * c.warps.n == c.block.n &&
                     is_power_of_two(warp.m) && is_power_of_two(warp.n) && warp.m >= 16 &&
                     warp.n >= 16;
  // Each thread copies the same number of whole vectors of an operand, at least one.
  const int vector = 16 / c.element_bytes();
  const int smaller = c.block.m < c.block.n ? c.block.m : c.block.n;
  const bool copies = is_power_of_two(c.block.k) && c.block.k >= 16 && c.block.k <= 32 &&
                      c.team() * vector <= smaller * c.block.k;
  // With several teams, a team is one warp, which needs no barrier.
  const bool teams = c.teams == 1 || c.team() == 32;
  // Two stages per team. Rows are padded by a vector, for either contiguous index of an operand.
  const int elements = (c.block.m + c.block.n + 2 * vector) * (c.block.k + vector);
  return warps && copies && teams && c.threads() <= 1024 && c.ctas * c.threads() <= 1536 &&
         2 * c.teams * elements * c.element_bytes() <= kStaticShared;
}

namespace detail {

// The configs of 16-bit products.
constexpr auto rows_for(ptx::MatrixType in, ElementType out) {
  return for_all_majors<Config>({
      {"16x16", {Arithmetic::kMma, {16, 16, 16}, {1, 1}, 4, 8, in, out}},
      {"32x32", {Arithmetic::kMma, {32, 32, 32}, {1, 1}, 2, 10, in, out}},
  });
}

}  // namespace detail

// Fields: block, warps, teams, CTAs per SM.
inline constexpr auto kF32 = for_all_majors<Config>({
    {"16x16", {Arithmetic::kFfma, {16, 16, 16}, {1, 1}, 4, 6}},
    {"32x32", {Arithmetic::kFfma, {32, 32, 32}, {1, 1}, 2, 6}},
    {"64x64", {Arithmetic::kFfma, {64, 64, 16}, {2, 2}, 1, 4}},
});
inline constexpr auto kF64 = for_all_majors<Config>({
    {"16x16", {Arithmetic::kDmma, {16, 16, 16}, {1, 1}, 4, 5}},
    {"32x32", {Arithmetic::kDmma, {32, 32, 16}, {1, 1}, 2, 6}},
    {"64x64", {Arithmetic::kDmma, {64, 64, 16}, {2, 2}, 1, 3}},
});
inline constexpr auto kBf16 = detail::rows_for(ptx::MatrixType::kBF16, ElementType::kBf16);
inline constexpr auto kBf16F32 = detail::rows_for(ptx::MatrixType::kBF16, ElementType::kF32);
inline constexpr auto kF16 = detail::rows_for(ptx::MatrixType::kF16, ElementType::kF16);
inline constexpr auto kF16F32 = detail::rows_for(ptx::MatrixType::kF16, ElementType::kF32);

}  // namespace tessera::small
