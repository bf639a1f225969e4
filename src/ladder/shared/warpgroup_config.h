// The config and the parameter block of rungs 34 to 44: BF16 products by wgmma, with operands that
// tensor copies load. Each rung sets one more member. Pure C++.
#pragma once

#include "base/config.h"
#include "kernels/schedule/raster.h"
#include "kernels/tile/extents.h"
#include "launch/params.h"

namespace tessera::ladder {

struct WarpgroupConfig {
  BlockTile block;    // k: depth of a stage
  int stages = 1;     // in the ring in shared memory
  int consumers = 1;  // warpgroups that multiply
  int ctas = 1;       // CTAs per SM, which limits the registers of a thread
  // Registers per thread after setmaxnreg. Both are 0 if there is no warpgroup that only loads.
  int producer_registers = 0, consumer_registers = 0;
  bool persistent = false;      // else one CTA per tile
  bool grouped = false;         // tiles in compact groups, else row by row
  OutputTile cluster = {1, 1};  // CTAs that share tiles by multicast
  int store_buffers = 0;        // panels per warp for tensor copies to D; 0: stores from registers
  bool ping_pong = false;       // each consumer has its own tile
  Majors majors = {Major::kK, Major::kN};

  constexpr bool has_producer() const { return producer_registers > 0; }
  constexpr int threads() const { return 128 * (consumers + (has_producer() ? 1 : 0)); }
  constexpr int ctas_per_sm() const { return ctas; }
  constexpr int ctas_of_cluster() const { return cluster.m * cluster.n; }
  constexpr int rows() const { return ping_pong ? block.m : block.m / consumers; }  // of a consumer

  static constexpr int kRow = tile::kRowBytes / 2;  // elements per row in shared memory
  constexpr int stage_bytes() const { return 2 * block.k * (block.m + block.n); }
  constexpr int panel_bytes() const { return 4 * consumers * store_buffers * 16 * tile::kRowBytes; }
  // Bytes: the ring, its mbarriers padded to 1024 bytes, and the panels.
  constexpr int shared_bytes() const { return stages * stage_bytes() + 1024 + panel_bytes(); }

  // The box that one tensor copy moves: a share of a panel, with rows along the contiguous index.
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
  constexpr int kShared = 227 * 1024;    // HW: per block, compute capability 9.0
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

// Tensor maps come first, at multiples of 64 bytes.
struct WarpgroupParams {
  TensorMap a_map, b_map, d_map;  // d_map: only for kernels that store by tensor copies
  GemmParams gemm;
  schedule::Raster raster;  // one tile per cluster
  int k_tiles;
  int copied_columns;  // the first columns of D, which tensor copies store
};

}  // namespace tessera::ladder
