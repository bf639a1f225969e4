// The configs of the kernels on Hopper's tensor cores.
#pragma once

#include "base/config.h"
#include "kernels/epilogue/panel_columns.h"
#include "kernels/ptx/matrix_type.h"
#include "kernels/tile/extents.h"

namespace tessera::wgmma {

inline constexpr int kPortableArch = 0;  // wgmma, tensor copies and setmaxnreg: sm_90a only

// kTogether: the warpgroups that multiply split the rows of a tile. kPingPong: each warpgroup has
// its own tile, and one stores while the other multiplies.
enum class Consumers { kTogether, kPingPong };
enum class Store { kTma, kDirect };

struct Config {
  ptx::MatrixType in;
  ElementType out;
  BlockTile block;     // k: depth of a stage
  int stages;          // in the ring in shared memory
  OutputTile cluster;  // CTAs that share tiles by multicast
  Consumers mode;
  int consumers;  // warpgroups that multiply
  Store store;
  int store_buffers;                           // panels per warp for tensor copies to D
  int producer_registers, consumer_registers;  // per thread after setmaxnreg
  Majors majors;
  int per_sm = 1;  // CTAs per SM: one multiplies while others load and store small tiles

  constexpr int threads() const { return 128 * (1 + consumers); }
  constexpr int ctas_per_sm() const { return per_sm; }
  constexpr int ctas() const { return cluster.m * cluster.n; }
  // The rows of a tile that one warpgroup multiplies.
  constexpr int rows() const {
    return mode == Consumers::kTogether ? block.m / consumers : block.m;
  }
  constexpr bool a_along_k() const { return majors.a == Major::kK; }
  constexpr bool b_along_k() const { return majors.b == Major::kK; }
  // HW: wgmma reads TF32 from shared memory only along k; an A in registers can come from any
  // layout.
  constexpr bool a_from_registers() const { return ptx::bits_of(in) == 32 && !a_along_k(); }

  // Whether the kernel multiplies batches of matrices at listed addresses.
  constexpr bool takes_lists() const { return ctas() == 1 && store == Store::kTma; }

  // Returns the elements per row of 128 bytes.
  constexpr int row() const { return 8 * tile::kRowBytes / ptx::bits_of(in); }
  // Returns the bytes of an operand's tile, in whole rows.
  constexpr int tile_bytes(int outer, bool along_k) const {
    const int along = along_k ? block.k : outer, rows = along_k ? outer : block.k;
    return (along + row() - 1) / row() * rows * tile::kRowBytes;
  }
  constexpr int stage_bytes() const {
    return tile_bytes(block.m, a_along_k()) + tile_bytes(block.n, b_along_k());
  }
  constexpr int panel_columns() const { return epilogue::store_columns(block.n, out); }
  constexpr int panel_bytes() const {
    const int panel = epilogue::kWarpRows * panel_columns() * types::bytes_of(out);
    const int of_warp = (store_buffers * panel + 1023) / 1024 * 1024;
    return of_warp * (store == Store::kTma ? 4 * consumers : 1);
  }
  // Bytes: the ring, its mbarriers padded to 1024 bytes, and the panels.
  constexpr int shared_bytes() const { return stages * stage_bytes() + 1024 + panel_bytes(); }

  // Rows of an operand's panel, and the box of one tensor copy: a CTA's share of a panel.
  constexpr int a_rows() const { return a_along_k() ? block.m : block.k; }
  constexpr int b_rows() const { return b_along_k() ? block.n : block.k; }
  constexpr TensorBox a_box() const {
    return {row(), tile::rows_of_copy(a_rows() / cluster.n), tile::kRowBytes};
  }
  constexpr TensorBox b_box() const {
    return {row(), tile::rows_of_copy(b_rows() / cluster.m), tile::kRowBytes};
  }
  constexpr TensorBox d_box() const {
    return {panel_columns(), epilogue::kWarpRows, panel_columns() * types::bytes_of(out)};
  }
};

constexpr bool is_legal(const Config& c) {
  constexpr int kShared = 227 * 1024;    // HW: per block, compute capability 9.0
  constexpr int kRegisters = 64 * 1024;  // HW: per SM
  const bool together = c.mode == Consumers::kTogether;
  const int group_m = together ? c.consumers * tile::kWgmmaM : tile::kWgmmaM;
  const int n = tile::wgmma_n(c.block.n);
  const bool tiles = c.block.m % group_m == 0 && c.block.n % 8 == 0 && n >= 8 &&
                     c.rows() * c.block.n / tile::kWarpgroup <= 208;
  // In an MN-major tile with several instructions along n, each instruction must begin at a panel.
  const bool panels = c.b_along_k() || n == c.block.n || n % c.row() == 0;
  const bool types = ptx::bits_of(c.in) == 16 || c.b_along_k();
  const bool bytes = ptx::bits_of(c.in) != 8 || c.a_along_k();  // HW: along k alone
  // If A comes from registers, a warp's rows must fill whole panels, which tensor copies store.
  const bool fragments =
      !c.a_from_registers() ||
      (c.rows() == tile::kFragmentRows && c.block.n % 32 == 0 && n == c.block.n &&
       c.store == Store::kTma && c.out == ElementType::kF32 && c.ctas() == 1);
  const bool shares = c.a_rows() % (8 * c.cluster.n) == 0 && c.b_rows() % (8 * c.cluster.m) == 0;
  const bool registers =
      c.per_sm * 128 * (c.producer_registers + c.consumers * c.consumer_registers) <= kRegisters &&
      c.producer_registers % 8 == 0 && c.consumer_registers % 8 == 0;
  const bool leaves = c.store == Store::kDirect || c.d_box().swizzle >= 32;
  return tiles && panels && types && bytes && fragments && shares && registers && leaves &&
         c.stages >= 2 && c.block.k % c.row() == 0 && (together || c.consumers == 2) &&
         c.per_sm * (c.shared_bytes() + 1024) <= kShared + 1024 && c.ctas() <= 8;
}

namespace detail {

using ptx::MatrixType;

// Several warpgroups per tile. Two panels per warp: one is filled while the other is stored.
constexpr Config together(MatrixType in, ElementType out, BlockTile block, int stages,
                          int consumers = 2) {
  return {in,        out,         block, stages, {1, 1}, Consumers::kTogether,
          consumers, Store::kTma, 2,     40,     232,    {}};
}
// One tile per warpgroup, one panel per warp: while it is stored, the other warpgroup multiplies.
constexpr Config ping_pong(MatrixType in, ElementType out, BlockTile block, int stages) {
  return {in, out, block, stages, {1, 1}, Consumers::kPingPong, 2, Store::kTma, 1, 40, 232, {}};
}

// Two CTAs multiply neighbouring tiles of a column, each loads half of B for both.
constexpr Config in_pairs(Config config) {
  config.cluster = {2, 1};
  return config;
}

// Four CTAs per SM, each with a ring of two stages, for thousands of short products: one CTA loads
// and another stores while a third multiplies. HW: an H200 takes 12.6 us for 1000 products of
// 64x64x64 (results/batches/bf16_1000x64.json).
// TRIED: one CTA per SM with six stages, and two CTAs with 64x128 tiles and three stages: slower.
constexpr Config four_at_a_time(MatrixType in, ElementType out, BlockTile block) {
  Config config = together(in, out, block, 2, 1);
  config.per_sm = 4;
  config.producer_registers = 24, config.consumer_registers = 104;
  return config;
}

}  // namespace detail

// The kernels of each type, large tiles first. "split": k is split into parts, and sums go to the
// workspace as floats, which a second launch adds. "c2x1": pairs of CTAs share B by multicast, for
// rows at odd multiples of 16 or 32 bytes, which take more requests of the L2. TRIED: pairs for
// other rows: no faster, and slower at 2048 (H100), where a cluster's initial barrier is a large
// part of the time. Rung 40 gains 0.3 % by clusters at 4096, 1.6 % at 8192 (H200,
// results/ladder/h200_ladder_bf16.json).
namespace detail {

// The configs for 16-bit operands and a D of the same type.
constexpr auto rows_to_same(MatrixType in) {
  const ElementType out = in == MatrixType::kBF16 ? ElementType::kBf16 : ElementType::kF16;
  return for_all_majors<Config>({
      {"128x256x64_s4_coop", together(in, out, {128, 256, 64}, 4)},
      {"128x256x64_s4_c2x1", in_pairs(together(in, out, {128, 256, 64}, 4))},
      {"128x192x64_s5_pp", ping_pong(in, out, {128, 192, 64}, 5)},
      {"128x128x64_s6_pp", ping_pong(in, out, {128, 128, 64}, 6)},
      {"64x128x64_s8_coop", together(in, out, {64, 128, 64}, 8, 1)},
      {"64x64x128_s6_coop", together(in, out, {64, 64, 128}, 6, 1)},
      {"64x32x128_s6_coop", together(in, out, {64, 32, 128}, 6, 1)},
      {"64x64x64_s2_x4", four_at_a_time(in, out, {64, 64, 64})},
      {"128x128x64_s6_pp_split", ping_pong(in, ElementType::kF32, {128, 128, 64}, 6)},
  });
}

// The configs for 16-bit operands and a D of floats.
constexpr auto rows_to_f32(MatrixType in) {
  return for_all_majors<Config>({
      {"128x256x64_s4_coop", together(in, ElementType::kF32, {128, 256, 64}, 4)},
      {"64x128x64_s8_coop", together(in, ElementType::kF32, {64, 128, 64}, 8, 1)},
      {"64x32x128_s6_coop", together(in, ElementType::kF32, {64, 32, 128}, 6, 1)},
  });
}

// Gives consumers 240 registers. WHY: with 232, a bias and a panel's values spill next to all sums.
constexpr Config with_most_registers(Config config) {
  config.producer_registers = 24, config.consumer_registers = 240;
  return config;
}

// The configs with an epilogue in the store: large tiles, and two small ones for small D. TRIED
// (BF16, GELU): ping-pong 128x128: no faster than 128x256.
constexpr auto fused_rows_to_same(MatrixType in) {
  const ElementType out = in == MatrixType::kBF16 ? ElementType::kBf16 : ElementType::kF16;
  return for_all_majors<Config>({
      {"128x256x64_s4_coop", together(in, out, {128, 256, 64}, 4)},
      {"128x256x64_s4_c2x1", in_pairs(together(in, out, {128, 256, 64}, 4))},
      {"128x192x64_s5_pp", with_most_registers(ping_pong(in, out, {128, 192, 64}, 5))},
      {"64x128x64_s8_coop", together(in, out, {64, 128, 64}, 8, 1)},
      {"64x64x128_s6_coop", together(in, out, {64, 64, 128}, 6, 1)},
  });
}

// Like fused_rows_to_same, for an epilogue that also writes an auxiliary output.
constexpr auto fused_rows_with_x(MatrixType in) {
  const ElementType out = in == MatrixType::kBF16 ? ElementType::kBf16 : ElementType::kF16;
  return for_all_majors<Config>({
      {"128x256x64_s4_coop", together(in, out, {128, 256, 64}, 4)},
      {"64x128x64_s8_coop", together(in, out, {64, 128, 64}, 8, 1)},
  });
}

}  // namespace detail

inline constexpr auto kBf16 = detail::rows_to_same(ptx::MatrixType::kBF16);
inline constexpr auto kBf16Fused = detail::fused_rows_to_same(ptx::MatrixType::kBF16);
inline constexpr auto kBf16FusedX = detail::fused_rows_with_x(ptx::MatrixType::kBF16);
inline constexpr auto kBf16F32 = detail::rows_to_f32(ptx::MatrixType::kBF16);
inline constexpr auto kF16 = detail::rows_to_same(ptx::MatrixType::kF16);
inline constexpr auto kF16Fused = detail::fused_rows_to_same(ptx::MatrixType::kF16);
inline constexpr auto kF16FusedX = detail::fused_rows_with_x(ptx::MatrixType::kF16);
inline constexpr auto kF16F32 = detail::rows_to_f32(ptx::MatrixType::kF16);

namespace detail {

// Returns a TF32 config with both operands along k. HW: wgmma takes B only along k, and A along m
// only from registers. If one operand is across k, it becomes A; if both are, one is repacked.
constexpr Config along_k(Config config) {
  config.majors = {Major::kK, Major::kK};
  return config;
}
constexpr Config a_across_k(Config config) {
  config.majors = {Major::kM, Major::kK};
  config.producer_registers = 24, config.consumer_registers = 240;  // WHY: 232 spill
  return config;
}
constexpr auto rows_of_tf32() {
  constexpr auto kIn = MatrixType::kTF32;
  constexpr auto kOut = ElementType::kF32;
  return rows_of<Config>({
      {"128x256x32_s4_coop", along_k(together(kIn, kOut, {128, 256, 32}, 4))},
      {"128x256x32_s4_c2x1", along_k(in_pairs(together(kIn, kOut, {128, 256, 32}, 4)))},
      {"256x128x32_s4_coop", along_k(together(kIn, kOut, {256, 128, 32}, 4))},
      {"256x128x32_s4_coop", a_across_k(together(kIn, kOut, {256, 128, 32}, 4))},
      {"128x192x32_s5_pp", along_k(ping_pong(kIn, kOut, {128, 192, 32}, 5))},
      {"128x128x32_s6_pp", along_k(ping_pong(kIn, kOut, {128, 128, 32}, 6))},
      {"128x128x32_s6_pp", a_across_k(ping_pong(kIn, kOut, {128, 128, 32}, 6))},
      {"128x64x32_s8_coop", along_k(together(kIn, kOut, {128, 64, 32}, 8, 1))},
      {"128x64x32_s8_coop", a_across_k(together(kIn, kOut, {128, 64, 32}, 8, 1))},
      {"64x128x32_s8_coop", along_k(together(kIn, kOut, {64, 128, 32}, 8, 1))},
      {"64x64x64_s6_coop", along_k(together(kIn, kOut, {64, 64, 64}, 6, 1))},
      {"64x32x64_s6_coop", along_k(together(kIn, kOut, {64, 32, 64}, 6, 1))},
  });
}

}  // namespace detail

inline constexpr auto kTf32 = detail::rows_of_tf32();

namespace detail {

// Returns the 8-bit configs, with stages as large as for 16 bits. Operands across k are repacked.
constexpr auto rows_of_s8() {
  constexpr auto kIn = MatrixType::kS8;
  constexpr auto kOut = ElementType::kS32;
  return rows_of<Config>({
      {"128x256x128_s4_coop", along_k(together(kIn, kOut, {128, 256, 128}, 4))},
      {"64x128x128_s8_coop", along_k(together(kIn, kOut, {64, 128, 128}, 8, 1))},
  });
}

}  // namespace detail

inline constexpr auto kS8 = detail::rows_of_s8();

}  // namespace tessera::wgmma
