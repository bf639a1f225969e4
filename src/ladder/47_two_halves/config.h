// FP32 operands as two FP16 terms each, chains of 32 k, and two consumers that alternate.
#pragma once

#include "base/config.h"
#include "kernels/epilogue/panel_columns.h"
#include "kernels/schedule/raster.h"
#include "kernels/tile/extents.h"
#include "launch/params.h"

namespace tessera::two_halves {

// The k of a chain. A row of a stage has 128 bytes: kChainK high terms, then kChainK low terms.
inline constexpr int kChainK = 32, kRowTerms = 2 * kChainK;

struct Config {
  BlockTile block;  // k: kChainK
  int stages;       // in the ring in shared memory
  bool in_turns = true;

  static constexpr int kConsumers = 2;  // warpgroups that share the rows of a tile
  static constexpr int kProducerRegisters = 56, kConsumerRegisters = 224;

  constexpr int threads() const { return 128 * (1 + kConsumers); }
  constexpr int ctas_per_sm() const { return 1; }
  constexpr int rows() const { return block.m / kConsumers; }  // per consumer

  constexpr int panel_columns() const {
    return epilogue::store_columns(block.n, ElementType::kF32);
  }
  constexpr int panels_bytes() const {  // one panel per consumer warp
    return 4 * kConsumers * epilogue::kWarpRows * panel_columns() * 4;
  }
  constexpr int stage_bytes() const { return (block.m + block.n) * tile::kRowBytes; }
  // Bytes: the ring, its mbarriers padded to 1024 bytes, and the panels.
  constexpr int shared_bytes() const { return stages * stage_bytes() + 1024 + panels_bytes(); }

  constexpr TensorBox a_box() const { return {kRowTerms, block.m, tile::kRowBytes}; }
  constexpr TensorBox b_box() const { return {kRowTerms, block.n, tile::kRowBytes}; }
  constexpr TensorBox d_box() const {
    return {panel_columns(), epilogue::kWarpRows, panel_columns() * 4};
  }
};

constexpr bool is_legal(const Config& c) {
  constexpr int kShared = 227 * 1024;  // HW: per block, compute capability 9.0
  constexpr int kSums = 192;           // registers for master sums and the sums of a chain
  return c.block.k == kChainK && c.rows() == tile::kWgmmaM &&
         tile::wgmma_n(c.block.n) == c.block.n && c.block.n <= 256 && c.block.n <= kSums &&
         c.stages >= 2 && c.shared_bytes() <= kShared;
}

// Tensor maps come first, at multiples of 64 bytes.
struct Params {
  TensorMap a_map, b_map, d_map;  // A and B as rows of terms: (m, 2 k) and (n, 2 k)
  GemmParams gemm;
  schedule::Raster raster;
  int chains;          // along k
  int copied_columns;  // the first columns of D, which tensor copies store
  // The sums of row i and column j are multiplied by 2^exponents_a[i] and 2^exponents_b[j].
  const int* exponents_a;
  const int* exponents_b;
};

inline constexpr auto kConfigs = rows_of<Config>({
    {"128x192x32_s5", {.block = {128, 192, kChainK}, .stages = 5}},
    {"128x192x32_s5_together", {.block = {128, 192, kChainK}, .stages = 5, .in_turns = false}},
});

}  // namespace tessera::two_halves
