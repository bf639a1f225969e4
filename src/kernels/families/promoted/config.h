// The configs of the kernels that multiply FP32 operands as FP16 terms and promote their sums.
#pragma once

#include "base/config.h"
#include "kernels/epilogue/panel_columns.h"
#include "kernels/tile/extents.h"

namespace tessera::promoted {

inline constexpr int kPortableArch = 0;  // wgmma, tensor copies and setmaxnreg: sm_90a only

// A row of a stage is 128 bytes: the high terms of 32 elements along k, then their low terms.
inline constexpr int kTerms = 2, kStageK = 32, kRowHalves = kTerms * kStageK;
// Low terms are multiplied by 2^kLowExponent, the largest power with which all stay finite.
inline constexpr int kLowExponent = 12;

struct Config {
  BlockTile block;  // k: kStageK
  int stages;       // in the ring in shared memory
  Majors majors = {Major::kK, Major::kK};

  static constexpr int kConsumers = 2;  // warpgroups that multiply, and share the rows of a tile
  static constexpr int kProducerRegisters = 56, kConsumerRegisters = 224;
  static constexpr int kSums = 192;  // registers for master sums and two chains

  constexpr int threads() const { return 128 * (1 + kConsumers); }
  constexpr int ctas_per_sm() const { return 1; }
  constexpr int rows() const { return block.m / kConsumers; }                 // per warpgroup
  constexpr int sums() const { return rows() * block.n / tile::kWarpgroup; }  // per thread
  constexpr int panel_columns() const {
    return epilogue::store_columns(block.n, ElementType::kF32);
  }
  // One panel per warp: the ring leaves no room for two.
  constexpr int panel_bytes() const {
    return 4 * kConsumers * epilogue::kWarpRows * panel_columns() * 4;
  }
  constexpr int stage_bytes() const { return (block.m + block.n) * tile::kRowBytes; }
  constexpr int shared_bytes() const { return stages * stage_bytes() + 1024 + panel_bytes(); }

  constexpr TensorBox a_box() const { return {kRowHalves, block.m, tile::kRowBytes}; }
  constexpr TensorBox b_box() const { return {kRowHalves, block.n, tile::kRowBytes}; }
  constexpr TensorBox d_box() const {
    return {panel_columns(), epilogue::kWarpRows, panel_columns() * 4};
  }
};

// The tile of the fallback by FFMAs, for operands that cannot be split into terms without loss.
struct FfmaShape {
  BlockTile block;
  OutputTile thread;

  constexpr OutputTile thread_grid() const { return {block.m / thread.m, block.n / thread.n}; }
  constexpr int threads() const { return thread_grid().m * thread_grid().n; }
  static constexpr int pitch(int outer) { return outer + 2; }
};
inline constexpr FfmaShape kFfma = {{128, 64, 16}, {8, 4}};
inline constexpr int kFfmaChainK = 64;  // k of each partial sum

constexpr bool is_legal(const Config& c) {
  constexpr int kShared = 227 * 1024;  // HW: per block, compute capability 9.0
  return c.block.k == kStageK && c.rows() == tile::kWgmmaM &&
         tile::wgmma_n(c.block.n) == c.block.n && c.block.n <= 256 &&
         3 * c.sums() <= Config::kSums && c.stages >= 2 && c.d_box().swizzle >= 32 &&
         c.shared_bytes() <= kShared && kFfma.threads() <= c.threads() && c.block.n % 32 == 0;
}

// Large tiles first. TRIED (H100): 128x192 with registers for one chain, used alternately for the
// products with a low term and for products of high terms: slower at 4096 and at 8192.
inline constexpr auto kF16x3 = rows_of<Config>({
    {"128x128x32_s6", {{128, 128, 32}, 6}},
    {"128x64x32_s8", {{128, 64, 32}, 8}},
});

}  // namespace tessera::promoted
