// The configs of the FP32 kernels that need no repacked operands: tensor copies load operands with
// either contiguous index into shared memory, and the inner loop reads both orders.
#pragma once

#include "base/config.h"

namespace tessera::simt_direct {

struct Config {
  BlockTile block;                             // k: depth of a stage
  int stages;                                  // in the ring in shared memory
  OutputTile warps, lanes;                     // consumer warps per block, lanes per warp
  OutputTile thread;                           // outputs of one thread
  int ctas;                                    // CTAs per SM
  int producer_registers, consumer_registers;  // per thread after setmaxnreg; 0: as compiled
  Majors majors = {};
  Loads loads = {};

  static constexpr int kProducers = 128;  // threads that load
  static constexpr int kPanel = 8;        // k per row of a panel in shared memory: 32 bytes
  constexpr int depth() const { return block.k; }  // k steps per stage
  constexpr int consumers() const { return 32 * warps.m * warps.n; }
  constexpr int threads() const { return consumers() + kProducers; }
  constexpr int ctas_per_sm() const { return ctas; }

  constexpr bool copies_a() const { return loads.a == Load::kTma; }
  constexpr bool copies_b() const { return loads.b == Load::kTma; }
  // Whether tensor copies load an operand. Tensor maps cannot describe arrays of addresses.
  constexpr bool has_maps() const { return copies_a() || copies_b(); }
  // Whether an operand's neighbours in k are also neighbours in shared memory.
  constexpr bool a_along_k() const { return copies_a() && majors.a == Major::kK; }
  constexpr bool b_along_k() const { return copies_b() && majors.b == Major::kK; }

  // Floats from one k to the next in a stage, for tiles with one row per k. A tile that the copy
  // transposes is padded: the eight k by four rows that a warp writes at a time are then in 32
  // different banks.
  constexpr int pitch_a() const { return block.m + (!copies_a() && majors.a == Major::kK ? 4 : 0); }
  constexpr int pitch_b() const { return block.n + (!copies_b() && majors.b == Major::kK ? 4 : 0); }
  constexpr int stage_a() const { return block.k * pitch_a(); }  // floats
  constexpr int stage_b() const { return block.k * pitch_b(); }
  constexpr int ring_bytes() const { return stages * (stage_a() + stage_b()) * 4; }
  // TRIED (model: ports; 256x128, reordered): also with fragments along k. That store costs more
  // than a scratch tile in global memory: ptxas allocates other registers for the inner loop.
  constexpr bool stores_through_shared() const { return !a_along_k() && !b_along_k(); }
  // Bytes of rows that warps stage for a D without vectors: four rows for each row of lanes.
  constexpr int rows_bytes() const {
    return stores_through_shared() ? warps.m * warps.n * 4 * lanes.m * lanes.n * thread.n * 4 : 0;
  }
  // Bytes of the ring, one mbarrier per stage and staged rows; 256 more for alignment to 128 bytes.
  constexpr int shared_bytes() const { return 256 + ring_bytes() + stages * 8 + rows_bytes(); }
  // An operand contiguous along k is loaded in panels of eight k. Row r (of m or n) is in plane
  // r % 4. The tensor map has one more dimension for planes, and a box has rows of all four planes.
  constexpr TensorBox a_box() const {
    return a_along_k() ? TensorBox{kPanel, block.m / 4, 4 * kPanel} : TensorBox{block.m, block.k};
  }
  constexpr TensorBox b_box() const {
    return b_along_k() ? TensorBox{kPanel, block.n / 4, 4 * kPanel} : TensorBox{block.n, block.k};
  }
};

constexpr bool is_legal(const Config& c) {
  constexpr int kShared = 227 * 1024;  // HW: per CTA, compute capability 9.0
  constexpr int kNamedBarriers = 16;   // HW: 0 is __syncthreads()
  const bool tiles_fit = c.block.m == c.warps.m * c.lanes.m * c.thread.m &&
                         c.block.n == c.warps.n * c.lanes.n * c.thread.n &&
                         c.lanes.m * c.lanes.n == 32;
  const bool along_k = c.a_along_k() || c.b_along_k();
  const bool vectors = c.thread.m % (along_k ? 16 : 4) == 0 && c.thread.n % (along_k ? 8 : 4) == 0;
  const bool boxes = c.block.m <= 256 && c.block.n <= 256;
  // A warp's first row of a plane must be at a multiple of eight rows, where the swizzle repeats.
  const bool swizzled = c.lanes.m * c.thread.m % 32 == 0 && c.lanes.n * c.thread.n % 32 == 0;
  return tiles_fit && vectors && boxes && swizzled && c.depth() % c.kPanel == 0 &&
         c.block.m % 32 == 0 && c.block.n % 32 == 0 && c.stages + 2 < kNamedBarriers &&
         c.ctas * (c.shared_bytes() + 1024) <= kShared + 1024 && c.threads() <= 1024;
}

inline constexpr Loads kByMaps{Load::kTma, Load::kTma};
inline constexpr Loads kAByMap{Load::kTma, Load::kCpAsync4};
inline constexpr Loads kBByMap{Load::kCpAsync4, Load::kTma};
inline constexpr Loads kByElements{Load::kCpAsync4, Load::kCpAsync4};

constexpr Config with(Config config, Majors majors, Loads loads) {
  config.majors = majors, config.loads = loads;
  return config;
}
// The config with other registers per thread after setmaxnreg, for fragments along k.
constexpr Config with_registers(Config config, int producer, int consumer) {
  config.producer_registers = producer, config.consumer_registers = consumer;
  return config;
}

// Fields: block, stages, warps, lanes, thread, CTAs per SM, registers. Values as in simt_f32.
inline constexpr Config k256x128{{256, 128, 8}, 12, {4, 2}, {4, 8}, {16, 8}, 1, 40, 232};
inline constexpr Config k128x128{{128, 128, 8}, 11, {2, 2}, {4, 8}, {16, 8}, 2, 40, 208};
inline constexpr Config k256x64{{256, 64, 8}, 9, {4, 1}, {4, 8}, {16, 8}, 2, 40, 208};
// Fragments along k need more registers, and no shared memory for staged rows of D.
inline constexpr Config k256x64AlongK{{256, 64, 8}, 11, {4, 1}, {4, 8}, {16, 8}, 2, 32, 224};
inline constexpr Config k128x64{{128, 64, 8}, 12, {2, 2}, {8, 4}, {8, 8}, 2, 40, 208};
inline constexpr Config k64x128{{64, 128, 8}, 12, {2, 2}, {4, 8}, {8, 8}, 2, 40, 208};
inline constexpr Majors kAkBn = kAllMajors[0], kAmBn = kAllMajors[1], kAkBk = kAllMajors[2],
                        kAmBk = kAllMajors[3];

// For each layout, first the fastest way to load; then the rows that load element by element, for
// operands that tensor copies cannot load. HW: an H200, 64 products of 512x512x512
// (results/batches/f32_64x512.json): ak_bn 347 us, am_bn 315 us, ak_bk 392 us in tiles of 128x128,
// am_bk 340 us in tiles of 256x64.
// TRIED: tensor copies of rows of eight k into panels, which the loading warps transpose in 4x4
// blocks (LDS.128, STS.128), so that all layouts have the inner loop of am_bn. The loading warps
// are too slow.
// TRIED: am_bn with A by tensor copies and B, with odd rows, by elements: slower than repacking B
// first: NT of 50257x1024x768 then takes 1538 us (results/variants/fp32_direct_odd.json).
inline constexpr auto kConfigs = rows_of<Config>({
    {"256x128", with(k256x128, kAkBn, kByMaps)},
    {"256x128", with(k256x128, kAmBn, kByMaps)},
    {"256x128", with(k256x128, kAkBk, kAByMap)},
    {"256x128", with(k256x128, kAmBk, kByMaps)},
    {"256x128", with(k256x128, kAkBn, kByElements)},
    {"256x128", with(k256x128, kAmBn, kByElements)},
    {"256x128", with(k256x128, kAkBk, kByElements)},
    {"256x128", with(k256x128, kAmBk, kByElements)},
    {"128x128", with(k128x128, kAkBn, kBByMap)},
    {"128x128", with(k128x128, kAmBn, kByMaps)},
    {"128x128", with(with_registers(k128x128, 32, 224), kAmBk, kByMaps)},
    {"128x128", with(k128x128, kAkBn, kByElements)},
    {"128x128", with(k128x128, kAmBn, kByElements)},
    {"128x128", with(k128x128, kAkBk, kByElements)},
    {"128x128", with(k128x128, kAmBk, kByElements)},
    {"256x64", with(k256x64AlongK, kAkBn, kByMaps)},
    {"256x64", with(k256x64, kAmBn, kByMaps)},
    {"256x64", with(k256x64AlongK, kAkBk, kAByMap)},
    {"256x64", with(k256x64, kAmBk, kAByMap)},
    {"128x64", with(k128x64, kAkBn, kBByMap)},
    {"128x64", with(k128x64, kAmBn, kByMaps)},
    {"128x64", with(k128x64, kAkBk, kByElements)},
    {"128x64", with(k128x64, kAmBk, kAByMap)},
    {"64x128", with(k64x128, kAkBn, kBByMap)},
    {"64x128", with(k64x128, kAmBn, kByMaps)},
    {"64x128", with(k64x128, kAkBk, kByElements)},
    {"64x128", with(k64x128, kAmBk, kAByMap)},
});

}  // namespace tessera::simt_direct
