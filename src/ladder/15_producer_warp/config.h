// Four warps fill a ring of stages while eight multiply, for each way to load the operands.
#pragma once

#include "base/config.h"
#include "kernels/schedule/stream_k.h"
#include "launch/params.h"

namespace tessera::producer_warp {

inline constexpr int kPortableArch = 0;  // tensor copies and setmaxnreg: sm_90a only

// The parameter block. Tensor maps come first, at multiples of 64 bytes.
struct Params {
  TensorMap a_map, b_map;  // used for operands that tensor copies load
  GemmParams gemm;
  schedule::StreamK schedule;  // whole tiles only
};

struct Config {
  BlockTile block;                             // k: depth of a stage
  int stages;                                  // in the ring
  OutputTile warps, lanes;                     // consumer warps per block, lanes per warp
  OutputTile thread;                           // outputs of one thread
  int producer_registers, consumer_registers;  // after the split by setmaxnreg
  Majors majors;
  Loads loads;

  static constexpr int kProducers = 128;  // threads that load
  constexpr int threads() const { return kProducers + 32 * warps.m * warps.n; }
  constexpr int ctas_per_sm() const { return 1; }
  constexpr int depth() const { return block.k; }  // k steps of a warp per stage

  // Pitch of a shared tile: floats from one k to the next. Tiles that a copy transposes are padded.
  constexpr int pitch_a() const { return block.m + (majors.a == Major::kK ? 4 : 0); }
  constexpr int pitch_b() const { return block.n + (majors.b == Major::kK ? 4 : 0); }
  constexpr int stage_a() const { return block.k * pitch_a(); }  // floats
  constexpr int stage_b() const { return block.k * pitch_b(); }
  // Bytes: up to 128 to align the ring, the ring, and one mbarrier per stage.
  constexpr int shared_bytes() const {
    return 128 + stages * (stage_a() + stage_b()) * 4 + stages * 8;
  }
  constexpr TensorBox a_box() const { return {block.m, block.k, 0}; }
  constexpr TensorBox b_box() const { return {block.n, block.k, 0}; }
};

constexpr bool is_legal(const Config& c) {
  const bool tiles_fit = c.block.m == c.warps.m * c.lanes.m * c.thread.m &&
                         c.block.n == c.warps.n * c.lanes.n * c.thread.n &&
                         c.lanes.m * c.lanes.n == 32;
  // A tensor copy keeps the order of its operand, so it cannot transpose a tile. A box has at most
  // 256 elements per dimension.
  const bool a_comes = c.loads.a == Load::kCpAsync4 || c.majors.a == Major::kM;
  const bool b_comes = c.loads.b == Load::kCpAsync4 || c.majors.b == Major::kN;
  const int registers =
      c.kProducers * c.producer_registers + (c.threads() - c.kProducers) * c.consumer_registers;
  return tiles_fit && a_comes && b_comes && c.block.m <= 256 && c.block.n <= 256 &&
         c.block.k % 8 == 0 && registers <= 65536 && c.shared_bytes() <= 227 * 1024;
}

// The layouts and the ways to load them, for each layout the faster way first.
inline constexpr struct {
  Majors majors;
  Loads loads;
} kOperandModes[] = {{{Major::kM, Major::kN}, {Load::kTma, Load::kTma}},
                     {{Major::kM, Major::kN}, {Load::kCpAsync4, Load::kCpAsync4}},
                     {{Major::kM, Major::kK}, {Load::kTma, Load::kCpAsync4}},
                     {{Major::kM, Major::kK}, {Load::kCpAsync4, Load::kCpAsync4}},
                     {{Major::kK, Major::kN}, {Load::kCpAsync4, Load::kTma}},
                     {{Major::kK, Major::kN}, {Load::kCpAsync4, Load::kCpAsync4}},
                     {{Major::kK, Major::kK}, {Load::kCpAsync4, Load::kCpAsync4}}};

constexpr auto for_all_modes(const ConfigRow<Config>& row) {
  ConfigRows<Config, sizeof kOperandModes / sizeof kOperandModes[0]> table{};
  for (int i = 0; i < table.size(); ++i) {
    table.rows[i] = row;
    table.rows[i].config.majors = kOperandModes[i].majors;
    table.rows[i].config.loads = kOperandModes[i].loads;
  }
  return table;
}

inline constexpr auto kConfigs =
    for_all_modes({"256x128x8", {{256, 128, 8}, 12, {4, 2}, {4, 8}, {16, 8}, 40, 232, {}, {}}});

}  // namespace tessera::producer_warp
