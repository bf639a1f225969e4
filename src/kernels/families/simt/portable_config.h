// Configs for all GPUs but sm_90a, for which simt_f32 exists. FP32 and FP64, with plain loads for
// SM 7.5 and cp.async from SM 8.0 on.
#pragma once

#include "base/config.h"

namespace tessera::portable {

// How tiles are loaded from global to shared memory.
enum class Load {
  kPlain,    // through registers, one tile ahead
  kCpAsync,  // without registers, stages - 1 tiles ahead
};

template <class T>
struct Config {
  using Element = T;

  BlockTile block;    // k: depth of a stage
  int stages;         // tiles in shared memory
  OutputTile warps;   // per block
  OutputTile lanes;   // per warp
  OutputTile thread;  // outputs of one thread
  int ctas;           // per SM, which limits the registers of a thread
  Load load = Load::kPlain;
  Majors majors = {};

  static constexpr int kVector = 16 / sizeof(T);  // elements of a 128-bit access

  constexpr int threads() const { return 32 * warps.m * warps.n; }
  constexpr int ctas_per_sm() const { return ctas; }

  // Elements from one k to the next in a stage. The copy transposes an operand that is contiguous
  // along k; with one vector of padding, the columns of its tile begin in different banks.
  constexpr int pitch_a() const { return block.m + (majors.a == Major::kK ? kVector : 0); }
  constexpr int pitch_b() const { return block.n + (majors.b == Major::kK ? kVector : 0); }
  constexpr int ring_bytes() const {
    return stages * block.k * (pitch_a() + pitch_b()) * static_cast<int>(sizeof(T));
  }
};

template <class T>
constexpr bool is_legal(const Config<T>& c) {
  constexpr int kStaticShared = 48 * 1024;     // HW: per block, without a request for more
  const int copied = c.kVector * c.threads();  // elements that the threads copy at a time
  const bool tiles_fit = c.block.m == c.warps.m * c.lanes.m * c.thread.m &&
                         c.block.n == c.warps.n * c.lanes.n * c.thread.n &&
                         c.lanes.m * c.lanes.n == 32;
  const bool vectors =
      c.thread.m % c.kVector == 0 && c.thread.n % c.kVector == 0 && c.block.k % c.kVector == 0;
  const bool copies = c.block.m * c.block.k % copied == 0 && c.block.n * c.block.k % copied == 0;
  const bool stages = c.load == Load::kPlain ? c.stages == 2 : c.stages >= 2;
  // k is even because two sets of fragments alternate.
  return tiles_fit && vectors && copies && stages && c.block.k % 2 == 0 && c.threads() <= 1024 &&
         c.ring_bytes() <= kStaticShared;
}

// Each type has a large tile, and a small one to fill the GPU if D is small. Fields: block, stages,
// warps, lanes, thread, CTAs per SM. Not tuned: only an H200 was available.
// TRIED: FP32 128x128 with 256 threads, two CTAs per SM: it spills on some architectures.
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
