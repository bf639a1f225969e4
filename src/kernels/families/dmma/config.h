// The configs of the FP64 kernels on tensor cores.
#pragma once

#include "base/config.h"
#include "kernels/tile/dmma_lanes.h"

namespace tessera::dmma_f64 {

struct Config {
  BlockTile block;   // k: depth of a stage
  int stages;        // in the ring in shared memory
  OutputTile warps;  // per block, if operands are not exchanged
  int ctas;          // per SM
  tile::Dmma instruction;
  int ahead = 1;  // steps from a load of fragments to its use
  Majors majors = {};

  constexpr int threads() const { return 32 * warps.m * warps.n; }
  constexpr int ctas_per_sm() const { return ctas; }

  // The rows of A and columns of B that one warp's instructions multiply.
  constexpr int rows() const { return block.m / warps.m; }
  constexpr int columns() const { return block.n / warps.n; }
  // Whether the instructions' A is our B; the sums are then the sums of the transposed D.
  // HW: an instruction's A has two rows of one k in neighbouring registers. A 128-bit load from a
  // tile along k has one row of two k; moving these to the right registers takes additional
  // instructions.
  constexpr bool exchanges() const {
    return majors.a == Major::kK && majors.b == Major::kN && block.m % columns() == 0 &&
           block.n % rows() == 0;
  }
  // Whether fragments are loaded 64 bits at a time: for two operands along k, which an exchange
  // does not help. The main loop of 128x128 has 1 move instead of 240 for its 32 instructions.
  constexpr bool loads_elements() const {
    return instruction == tile::Dmma::kM16N8K8 && majors.a == Major::kK && majors.b == Major::kK;
  }
  // The outputs of a warp, and the grid of warps over the block.
  constexpr OutputTile warp() const {
    return exchanges() ? OutputTile{columns(), rows()} : OutputTile{rows(), columns()};
  }
  constexpr OutputTile warp_grid() const { return {block.m / warp().m, block.n / warp().n}; }

  // Whether enough registers are free to prefetch C to the L2 and for a main loop that stops
  // copying in time. HW: with 32 x 64 sums per warp and instruction 16x8x4, ptxas would spill sums.
  constexpr bool has_registers_left() const {
    return instruction != tile::Dmma::kM16N8K4 || rows() * columns() < 32 * 64;
  }

  // The bytes of the ring, and of the description of the CTA's current work.
  constexpr int ring_bytes() const { return stages * block.k * (block.m + block.n) * 8; }
  constexpr int shared_bytes() const { return ring_bytes() + 128; }
  // Whether launches of one plan may overlap: griddepcontrol needs sm_90, and so do all
  // instructions except 8x8x4.
  constexpr bool starts_early() const { return instruction != tile::Dmma::kM8N8K4; }
};

constexpr bool is_legal(const Config& c) {
  constexpr int kShared = 227 * 1024;     // HW: per CTA, compute capability 9.0
  constexpr int kSharedOld = 163 * 1024;  // HW: compute capability 8.0
  const int shared = c.starts_early() ? kShared : kSharedOld;
  const bool warps = c.rows() * c.warps.m == c.block.m && c.columns() * c.warps.n == c.block.n &&
                     c.rows() % tile::kDmmaOuter == 0 && c.columns() % tile::kDmmaOuter == 0;
  // 32-bit registers: sums, two sets of fragments of A, 2 * ahead sets of sixteen columns of B.
  const int depth = tile::dmma_depth(c.instruction);
  const int registers =
      c.rows() * c.columns() / 16 + (c.rows() + c.ahead * tile::kDmmaOuter) * depth / 8;
  // Two sets of fragments of A are used alternately, and 2 * ahead sets of B.
  const int all = c.block.k / depth * (c.columns() / tile::kDmmaOuter);
  const bool steps = c.block.k % (2 * depth) == 0 && c.ahead >= 1 && all % (2 * c.ahead) == 0;
  // The threads, a power of two of them, copy whole lines of a tile at a time.
  const int least = c.block.m < c.block.n ? c.block.m : c.block.n;
  const bool copies = c.threads() % c.block.m == 0 && c.threads() % c.block.n == 0 &&
                      (c.threads() & (c.threads() - 1)) == 0 &&
                      2 * c.threads() <= c.block.k * least;
  return warps && steps && copies && registers <= 232 && c.stages >= 2 &&
         c.ctas * (c.shared_bytes() + 1024) <= shared + 1024 && c.ctas * c.threads() <= 2048;
}

// The fields are block, stages, warps, CTAs per SM and, if it is the same for all layouts,
// instruction. The largest tile needs the least L2 traffic; with 128x64 an SM has two CTAs, so that
// a barrier never stops all its warps; small tiles suit products with few tiles, thin tiles thin
// outputs. 16x8x4 suits operands that are both contiguous across k: a load has two columns of B for
// one k. 16x8x8 suits a B along k, and takes fewer registers. HW: an H200, 4096: from 58.8 to 59.9
// TFLOP/s in NN, NT and TT (results/tensor/f64.json).
//
// 128x32 and 32x128 suit outputs that exceed a multiple of 64 rows or columns by at most 32. A warp
// has the sums and the loads of fragments of a warp of 64x64, but copies more.
// TRIED: three of their CTAs per SM, with three stages. ptxas then has too few registers for
// operands that are both across k, and spills in the main loop.
template <int rows>
constexpr ConfigRows<Config, rows> with_instructions(ConfigRows<Config, rows> table) {
  for (ConfigRow<Config>& row : table.rows) {
    Config& c = row.config;
    const bool across_k = c.majors.a == Major::kM && c.majors.b == Major::kN;
    c.instruction = across_k ? tile::Dmma::kM16N8K4 : tile::Dmma::kM16N8K8;
    c.ahead = across_k && c.block.m * c.block.n == 128 * 128 ? 2 : 1;
  }
  return table;
}
inline constexpr auto kSm90 = with_instructions(for_all_majors<Config>({
    {"128x128", {{128, 128, 16}, 6, {4, 2}, 1}},
    {"128x64", {{128, 64, 16}, 4, {4, 1}, 2}},
    {"64x64", {{64, 64, 16}, 5, {2, 2}, 2}},
    {"128x32", {{128, 32, 16}, 5, {4, 1}, 2}},
    {"32x128", {{32, 128, 16}, 5, {1, 4}, 2}},
    {"64x32", {{64, 32, 16}, 4, {2, 2}, 3}},
    {"128x16", {{128, 16, 16}, 4, {4, 1}, 3}},
    {"16x128", {{16, 128, 16}, 4, {1, 4}, 3}},
}));
inline constexpr auto kSm80 = for_all_majors<Config>({
    {"128x64", {{128, 64, 16}, 3, {4, 1}, 2, tile::Dmma::kM8N8K4}},
    {"64x32", {{64, 32, 16}, 3, {2, 2}, 4, tile::Dmma::kM8N8K4}},
});

}  // namespace tessera::dmma_f64
