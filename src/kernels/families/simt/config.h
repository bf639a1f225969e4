// The configs of the FP32 kernels on CUDA cores: shapes, and how operands are loaded.
#pragma once

#include "base/config.h"

namespace tessera::simt {

inline constexpr int kPortableArch = 0;  // tensor copies and setmaxnreg: sm_90a only

struct Config {
  BlockTile block;                             // k: depth of a stage
  int stages;                                  // in the ring in shared memory
  OutputTile warps, lanes;                     // consumer warps per block, lanes per warp
  OutputTile thread;                           // outputs of one thread
  int slices;                                  // parts of k, each with its own warps (sliced K)
  int ctas;                                    // CTAs per SM
  int producer_registers, consumer_registers;  // per thread after setmaxnreg; 0: as compiled
  Majors majors;
  Loads loads;

  static constexpr int kProducers = 128;  // threads that load
  constexpr int slice_threads() const { return 32 * warps.m * warps.n; }
  constexpr int depth() const { return block.k / slices; }  // k steps of a warp per stage
  constexpr int consumers() const { return slices * slice_threads(); }
  constexpr int threads() const { return consumers() + kProducers; }
  constexpr int ctas_per_sm() const { return ctas; }

  // Floats from one k to the next in a stage. A tile that the copy transposes is padded: the eight
  // k by four rows that a warp writes at a time are then in 32 different banks.
  constexpr int pitch_a() const { return block.m + (majors.a == Major::kK ? 4 : 0); }
  constexpr int pitch_b() const { return block.n + (majors.b == Major::kK ? 4 : 0); }
  constexpr int stage_a() const { return block.k * pitch_a(); }  // floats
  constexpr int stage_b() const { return block.k * pitch_b(); }
  constexpr int ring_bytes() const { return stages * (stage_a() + stage_b()) * 4; }
  // Returns the bytes of the sums that slices exchange: each slice sends all but its own share.
  constexpr int sums_bytes() const { return (slices - 1) * block.m * block.n * 4; }
  // Bytes of the ring, one mbarrier per stage and the sums; 256 more for alignment to 128 bytes.
  constexpr int shared_bytes() const { return 256 + ring_bytes() + stages * 8 + sums_bytes(); }
  constexpr TensorBox a_box() const { return {block.m, block.k, 0}; }
  constexpr TensorBox b_box() const { return {block.n, block.k, 0}; }
};

constexpr bool is_legal(const Config& c) {
  constexpr int kShared = 227 * 1024;  // HW: per CTA, compute capability 9.0
  constexpr int kNamedBarriers = 16;   // HW: 0 is __syncthreads()
  const bool tiles_fit = c.block.m == c.warps.m * c.lanes.m * c.thread.m &&
                         c.block.n == c.warps.n * c.lanes.n * c.thread.n &&
                         c.lanes.m * c.lanes.n == 32;
  const bool vectors = c.thread.m % 4 == 0 && c.thread.n % 4 == 0;
  const bool shares = c.thread.m % c.slices == 0;
  const bool boxes = c.block.m <= 256 && c.block.n <= 256;
  const bool loadable = (c.majors.a == Major::kM || c.loads.a == Load::kCpAsync4) &&
                        (c.majors.b == Major::kN || c.loads.b == Load::kCpAsync4);
  return tiles_fit && vectors && shares && boxes && loadable && c.block.k % (2 * c.slices) == 0 &&
         c.block.m % 16 == 0 && c.block.n % 16 == 0 && c.stages + 2 < kNamedBarriers &&
         c.ctas * (c.shared_bytes() + 1024) <= kShared + 1024 && c.threads() <= 1024;
}

// The operand modes. An operand that is contiguous along m (or n) is loaded by tensor copies or
// element by element; one that is contiguous along k is transposed by copies of elements.
struct OperandMode {
  Major a, b;
  Loads loads;
};
inline constexpr OperandMode kOperandModes[9] = {
    {Major::kM, Major::kN, {Load::kTma, Load::kTma}},
    {Major::kM, Major::kN, {Load::kTma, Load::kCpAsync4}},
    {Major::kM, Major::kN, {Load::kCpAsync4, Load::kTma}},
    {Major::kM, Major::kN, {Load::kCpAsync4, Load::kCpAsync4}},
    {Major::kM, Major::kK, {Load::kTma, Load::kCpAsync4}},
    {Major::kM, Major::kK, {Load::kCpAsync4, Load::kCpAsync4}},
    {Major::kK, Major::kN, {Load::kCpAsync4, Load::kTma}},
    {Major::kK, Major::kN, {Load::kCpAsync4, Load::kCpAsync4}},
    {Major::kK, Major::kK, {Load::kCpAsync4, Load::kCpAsync4}},
};

template <int variants>
constexpr ConfigRows<Config, 9 * variants> for_all_modes(
    const ConfigRow<Config> (&list)[variants]) {
  ConfigRows<Config, 9 * variants> table{};
  for (int i = 0; i < table.size(); ++i) {
    const OperandMode& mode = kOperandModes[i % 9];
    table.rows[i] = list[i / 9];
    table.rows[i].config.majors = {mode.a, mode.b};
    table.rows[i].config.loads = mode.loads;
  }
  return table;
}

// Fields: block, stages, warps, lanes, thread, slices, CTAs per SM, registers. A stage is one
// iteration of the inner loop: long enough to make its twenty-odd instructions other than LDS.128
// and FFMA insignificant, and short enough for the instruction cache. Sliced K gives an SM with one
// small tile enough warps.
inline constexpr auto kConfigs = for_all_modes({
    {"256x128", {{256, 128, 8}, 12, {4, 2}, {4, 8}, {16, 8}, 1, 1, 40, 232}},
    {"128x128", {{128, 128, 8}, 12, {2, 2}, {4, 8}, {16, 8}, 1, 2, 40, 208}},
    {"128x64", {{128, 64, 32}, 7, {2, 2}, {8, 4}, {8, 8}, 2, 1, 40, 208}},
    {"64x128", {{64, 128, 32}, 7, {2, 2}, {4, 8}, {8, 8}, 2, 1, 40, 208}},
    {"64x64", {{64, 64, 32}, 9, {1, 2}, {8, 4}, {8, 8}, 4, 1, 40, 208}},
    {"128x16", {{128, 16, 32}, 5, {4, 1}, {8, 4}, {4, 4}, 1, 2, 0, 0}},
    {"16x128", {{16, 128, 32}, 5, {1, 4}, {4, 8}, {4, 4}, 1, 2, 0, 0}},
    {"64x32", {{64, 32, 16}, 8, {4, 1}, {4, 8}, {4, 4}, 1, 4, 48, 80}},
    {"64x32_k4", {{64, 32, 32}, 12, {1, 1}, {8, 4}, {8, 8}, 4, 1, 0, 0}},
});

}  // namespace tessera::simt
