// simt_f32 needs sm_90a. These shapes are for every other GPU, in FP32 and FP64: by plain loads for
// SM 7.5, by cp.async from SM 8.0 on.
#pragma once

#include "base/config.h"

namespace tessera::portable {

// How tiles come from global to shared memory.
enum class Load {
  kPlain,    // through registers, one tile ahead
  kCpAsync,  // past the registers, stages - 1 tiles ahead
};

template <class T>
struct Config {
  using Element = T;

  BlockTile block;    // k: depth of a stage
  int stages;         // tiles in shared memory
  OutputTile warps;   // of the block
  OutputTile lanes;   // of a warp
  OutputTile thread;  // outputs of one thread
  int ctas;           // per SM, that registers must suffice for
  Load load = Load::kPlain;
  Majors majors = {};

  static constexpr int kVector = 16 / sizeof(T);  // elements of a 128-bit access

  constexpr int threads() const { return 32 * warps.m * warps.n; }
  constexpr int ctas_per_sm() const { return ctas; }

  // Elements between neighbours in k of a stage. A tile whose operand is contiguous along k is
  // transposed on its way: padded by one vector, its columns begin in different banks.
  constexpr int pitch_a() const { return block.m + (majors.a == Major::kK ? kVector : 0); }
  constexpr int pitch_b() const { return block.n + (majors.b == Major::kK ? kVector : 0); }
  constexpr int ring_bytes() const {
    return stages * block.k * (pitch_a() + pitch_b()) * static_cast<int>(sizeof(T));
  }
};

template <class T>
constexpr bool is_legal(const Config<T>& c) {
  constexpr int kStaticShared = 48 * 1024;     // HW: of a block, without asking the driver for more
  const int copied = c.kVector * c.threads();  // elements that the threads copy at once
  const bool tiles_fit = c.block.m == c.warps.m * c.lanes.m * c.thread.m &&
                         c.block.n == c.warps.n * c.lanes.n * c.thread.n &&
                         c.lanes.m * c.lanes.n == 32;
  const bool vectors =
      c.thread.m % c.kVector == 0 && c.thread.n % c.kVector == 0 && c.block.k % c.kVector == 0;
  const bool copies = c.block.m * c.block.k % copied == 0 && c.block.n * c.block.k % copied == 0;
  const bool stages = c.load == Load::kPlain ? c.stages == 2 : c.stages >= 2;
  // Two sets of fragments take turns.
  return tiles_fit && vectors && copies && stages && c.block.k % 2 == 0 && c.threads() <= 1024 &&
         c.ring_bytes() <= kStaticShared;
}

// Each type has a large tile, and a small one so that small outputs fill the GPU. Block, stages,
// warps, lanes, thread, CTAs per SM. No GPU but an H200 was at hand: nothing here is tuned.
// TRIED: FP32 in 128x128 by 256 threads, two CTAs per SM: spills, on one architecture or another.
inline constexpr auto kF32Sm75 =
    for_all_majors<Config<float>>({{"128x64", {{128, 64, 8}, 2, {2, 2}, {8, 4}, {8, 8}, 3}},
                                   {"64x64", {{64, 64, 8}, 2, {2, 2}, {8, 4}, {4, 8}, 4}}});
inline constexpr auto kF32Sm80 = for_all_majors<Config<float>>(
    {{"128x64", {{128, 64, 8}, 4, {2, 2}, {8, 4}, {8, 8}, 3, Load::kCpAsync}},
     {"64x64", {{64, 64, 8}, 4, {2, 2}, {8, 4}, {4, 8}, 4, Load::kCpAsync}}});
inline constexpr auto kF64Sm75 =
    for_all_majors<Config<double>>({{"64x64", {{64, 64, 8}, 2, {4, 2}, {4, 8}, {4, 4}, 2}},
                                    {"32x32", {{32, 32, 8}, 2, {2, 1}, {4, 8}, {4, 4}, 8}}});
inline constexpr auto kF64Sm80 = for_all_majors<Config<double>>(
    {{"64x64", {{64, 64, 8}, 4, {4, 2}, {4, 8}, {4, 4}, 2, Load::kCpAsync}},
     {"32x32", {{32, 32, 8}, 4, {2, 1}, {4, 8}, {4, 4}, 8, Load::kCpAsync}}});

}  // namespace tessera::portable
