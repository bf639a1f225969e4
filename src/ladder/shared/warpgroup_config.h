// The config and the parameter block of rungs 34 to 44: BF16 products by wgmma, with operands that
// come by tensor copies. Each rung sets one member more. Pure C++.
#pragma once

#include "base/config.h"
#include "kernels/schedule/raster.h"
#include "kernels/tile/extents.h"
#include "launch/params.h"

namespace tessera::ladder {

struct WarpgroupConfig {
  BlockTile block;    // k: depth of a stage
  int stages = 1;     // of the ring in shared memory
  int consumers = 1;  // warpgroups that multiply
  int ctas = 1;       // per SM, that registers must suffice for
  // After the split by setmaxnreg. 0: no warpgroup loads alone.
  int producer_registers = 0, consumer_registers = 0;
  bool persistent = false;      // else a CTA for each tile
  bool grouped = false;         // tiles in compact groups, else row by row
  OutputTile cluster = {1, 1};  // CTAs that share tiles by multicast
  int store_buffers = 0;        // panels of a warp on their way to D; 0: no tensor copy stores
  bool ping_pong = false;       // each consumer has a tile of its own
  Majors majors = {Major::kK, Major::kN};

  constexpr bool has_producer() const { return producer_registers > 0; }
  constexpr int threads() const { return 128 * (consumers + (has_producer() ? 1 : 0)); }
  constexpr int ctas_per_sm() const { return ctas; }
  constexpr int ctas_of_cluster() const { return cluster.m * cluster.n; }
  constexpr int rows() const { return ping_pong ? block.m : block.m / consumers; }  // of a consumer

  static constexpr int kRow = tile::kRowBytes / 2;  // elements of a shared row
  constexpr int stage_bytes() const { return 2 * block.k * (block.m + block.n); }
  constexpr int panel_bytes() const { return 4 * consumers * store_buffers * 16 * tile::kRowBytes; }
  // The ring and its barriers, then the panels, aligned to 1024 bytes.
  constexpr int shared_bytes() const { return stages * stage_bytes() + 1024 + panel_bytes(); }

  // What one tensor copy moves: a share of a panel, whose rows lie along the contiguous index.
  constexpr TensorBox a_box() const {
    const int rows = majors.a == Major::kK ? block.m : block.k;
    return {kRow, rows / cluster.n, tile::kRowBytes};
  }
  constexpr TensorBox b_box() const {
    const int rows = majors.b == Major::kK ? block.n : block.k;
    return {kRow, rows / cluster.m, tile::kRowBytes};
  }
  constexpr TensorBox d_box() const { return {kRow, 16, tile::kRowBytes}; }
};

constexpr bool is_legal(const WarpgroupConfig& c) {
  constexpr int kShared = 227 * 1024;    // HW: of an SM, compute capability 9.0
  constexpr int kRegisters = 64 * 1024;  // HW: per SM
  const bool tiles = c.rows() % tile::kWgmmaM == 0 && c.block.n % WarpgroupConfig::kRow == 0 &&
                     tile::wgmma_n(c.block.n) == c.block.n &&
                     c.block.k % WarpgroupConfig::kRow == 0 && c.block.m <= 256 &&
                     c.rows() * c.block.n / tile::kWarpgroup <= 208;
  const bool shares = c.block.m % (8 * c.cluster.n) == 0 && c.block.k % (8 * c.cluster.m) == 0;
  const bool registers =
      128 * (c.producer_registers + c.consumers * c.consumer_registers) * c.ctas <= kRegisters;
  return tiles && shares && registers && c.ctas * (c.shared_bytes() + 1024) <= kShared + 1024 &&
         (!c.ping_pong || c.consumers == 2);
}

// Tensor maps come first, at multiples of 64.
struct WarpgroupParams {
  TensorMap a_map, b_map, d_map;  // d_map: of kernels that store by tensor copies
  GemmParams gemm;
  schedule::Raster raster;  // of clusters' tiles
  int k_tiles;
  int copied_columns;  // of D from the left, that tensor copies store
};

}  // namespace tessera::ladder
