// Rung 39 with a stream-K schedule: the last tiles are split along k, so that all SMs end together.
#pragma once

#include "kernels/schedule/stream_k.h"
#include "ladder/shared/warpgroup_config.h"

namespace tessera::stream_k {

using Config = ladder::WarpgroupConfig;

// Tensor maps come first, at multiples of 64 bytes.
struct Params {
  TensorMap a_map, b_map;
  GemmParams gemm;
  schedule::StreamK schedule;
  float* partials;  // partial sums, one row-major tile per slot
};

// Schedules whole tiles until less than two waves are left, and splits the rest into equal runs.
constexpr schedule::StreamK schedule_of(int tiles_m, int tiles_n, int k_tiles, int ctas,
                                        int group) {
  schedule::StreamK s{.ctas = ctas,
                      .tiles_m = tiles_m,
                      .tiles_n = tiles_n,
                      .group = group,
                      .whole_tiles = 0,
                      .k_tiles = k_tiles,
                      .runs = 0,
                      .parts = 0,
                      .head = 0,
                      .head_length = 0,
                      .longer_heads = 0,
                      .snap = 0,
                      .run_length = 0,
                      .longer_runs = 0};
  const int waves = s.tiles() / ctas, rest = s.tiles() % ctas;
  if (rest == 0 || k_tiles == 0) return with_runs(s, s.tiles(), 0, 0);
  const int whole = waves > 1 ? (waves - 1) * ctas : 0;
  const long long units = static_cast<long long>(s.tiles() - whole) * k_tiles;
  constexpr int kShortest = 4;  // k tiles: a shorter run would only fill the ring
  const long long most = units / kShortest > 0 ? units / kShortest : 1;
  return with_runs(s, whole, most < ctas ? static_cast<int>(most) : ctas, 1);
}

inline constexpr auto kConfigs = rows_of<Config>({
    {"128x256x64_s4",
     {.block = {128, 256, 64},
      .stages = 4,
      .consumers = 2,
      .producer_registers = 40,
      .consumer_registers = 232,
      .persistent = true,
      .grouped = true}},
});

}  // namespace tessera::stream_k
