// What one SM does by itself: shared memory, arithmetic, barriers, and the launch around it.
#include "tools/calibrate/timing/images.h"
#include "tools/calibrate/timing/measurements.h"
#include "tools/calibrate/timing/patterns.h"

namespace tessera::calibration {
namespace {

constexpr int kUnroll = 16;  // tools/calibrate/kernels/timed.h

Json scaled(const std::optional<double>& cycles, double by) {
  return cycles ? Json(*cycles * by) : Json(nullptr);
}

Json shared_row(Bench& bench, const std::string& entry, unsigned bits, const Pattern& pattern,
                int warps) {
  const Work work{.image = &shared_memory_image(),
                  .entry = entry + "_" + std::to_string(bits),
                  .pattern = pattern,
                  .warps = warps};
  return {
      {"entry", work.entry},     {"bits", bits},
      {"pattern", pattern.name}, {"offsets", pattern.offset},
      {"warps", warps},          {"cycles", scaled(bench.cycles(work), 1.0 / (kUnroll * warps))}};
}

Json chase_row(Bench& bench, unsigned bits, const Pattern& pattern) {
  const Work work{.image = &shared_memory_image(),
                  .entry = "shared_chase_" + std::to_string(bits),
                  .pattern = pattern,
                  .warps = 1};
  return {{"entry", work.entry},
          {"bits", bits},
          {"pattern", pattern.name},
          {"warps", 1},
          {"latency", scaled(bench.cycles(work), 1.0 / kUnroll)}};
}

Json atomic_row(Bench& bench, const Pattern& pattern) {
  const Work work{
      .image = &shared_memory_image(), .entry = "shared_atomic_add", .pattern = pattern};
  return {{"entry", work.entry},
          {"pattern", pattern.name},
          {"warps", work.warps},
          {"cycles", scaled(bench.cycles(work), 1.0 / (kUnroll * work.warps))}};
}

// An SM's instructions of the loop for each of its cycles, all warps together.
Json pipe_row(Bench& bench, const std::string& entry, int warps, const Json& loop) {
  const Work work{.image = &pipes_image(), .entry = entry, .warps = warps, .iterations = 256};
  return {{"entry", entry},
          {"warps", warps},
          {"loop", loop},
          {"cycles", scaled(bench.cycles(work), 1.0 / kUnroll)}};
}

Json barrier_row(Bench& bench, int warps) {
  const Work work{.image = &control_image(), .entry = "barrier", .warps = warps};
  return {{"entry", "barrier"},
          {"warps", warps},
          {"cycles", scaled(bench.cycles(work), 1.0 / kUnroll)}};
}

Json launch_row(Bench& bench, const std::string& entry, int ctas, int threads, int launches) {
  const Work work{
      .image = &control_image(), .entry = entry, .ctas = ctas, .iterations = 1, .threads = threads};
  const auto time = bench.milliseconds(work, bench.has_clock() ? launches : 1);
  return {{"entry", entry},
          {"ctas", ctas},
          {"threads", threads},
          {"launches", launches},
          {"microseconds_a_launch", time ? Json(*time * 1e3 / launches) : Json(nullptr)}};
}

}  // namespace

Json measure_shared_memory(Bench& bench) {
  Json rows = Json::array();
  for (unsigned bits : {32U, 64U, 128U}) {
    for (const Pattern& pattern : shared_patterns(bits / 8)) {
      rows.push_back(shared_row(bench, "shared_load", bits, pattern, 8));
      rows.push_back(shared_row(bench, "shared_store", bits, pattern, 8));
    }
    const Pattern free_of_conflicts = shared_patterns(bits / 8)[0];
    for (int warps : {1, 2, 4, 16, 32}) {
      rows.push_back(shared_row(bench, "shared_load", bits, free_of_conflicts, warps));
      rows.push_back(shared_row(bench, "shared_store", bits, free_of_conflicts, warps));
    }
    for (const Pattern& pattern : shared_patterns(bits / 8)) {
      if (pattern.name.starts_with("stride") || pattern.name == "one place") {
        rows.push_back(chase_row(bench, bits, pattern));
      }
    }
  }
  for (const Pattern& pattern : shared_patterns(4)) {
    if (!pattern.name.starts_with("random")) rows.push_back(atomic_row(bench, pattern));
  }
  return rows;
}

Json measure_pipes(Bench& bench) {
  Json rows = Json::array();
  for (const char* entry :
       {"ffma_1", "ffma_8", "fadd_8", "dfma_1", "dfma_8", "imad_1", "imad_8", "imad_wide_1",
        "imad_wide_8", "shift_1", "shift_8", "add_xor_1", "add_xor_8", "add_xor_64_8", "ffma_imad",
        "ffma_shift", "dmma_1", "dmma_4"}) {
    const Json loop = bench.loop_of(pipes_image(), entry);
    for (int warps : {1, 4, 8, 16, 32}) rows.push_back(pipe_row(bench, entry, warps, loop));
  }
  return rows;
}

Json measure_matrix(Bench& bench) {
  Json rows = Json::array();
  const auto add = [&](const char* entry, const Pattern& pattern) {
    const Work work{.image = &matrix_image(), .entry = entry, .pattern = pattern};
    rows.push_back({{"entry", entry},
                    {"pattern", pattern.name},
                    {"offsets", pattern.offset},
                    {"warps", work.warps},
                    {"cycles", scaled(bench.cycles(work), 1.0 / (kUnroll * work.warps))}});
  };
  const bool has_sm_90 = bench.device().info().sm >= 90;
  for (const Pattern& pattern : shared_patterns(16)) {
    for (const char* entry : {"load_matrix_1", "load_matrix_2", "load_matrix_4"}) {
      add(entry, pattern);
    }
    if (!has_sm_90) continue;
    add("store_matrix_1", pattern);
    add("store_matrix_4", pattern);
  }
  for (const char* entry : {"dmma_16x8x4", "dmma_16x8x8", "dmma_16x8x16"}) {
    if (has_sm_90) add(entry, Pattern{});
  }
  add("copy_async", shared_patterns(16)[0]);
  return rows;
}

Json measure_control(Bench& bench) {
  Json rows = Json::array();
  for (int warps : {1, 2, 4, 8, 16, 32}) rows.push_back(barrier_row(bench, warps));
  rows.push_back(launch_row(bench, "nothing", 1, 32, 1));
  rows.push_back(launch_row(bench, "nothing", 1, 32, 1000));
  const int sms = bench.device().info().sms;
  for (int threads : {32, 64, 256, 1024}) {
    for (int ctas : {sms, 16 * sms, 256 * sms, 2048 * sms}) {
      if (ctas == 0 || (!bench.has_clock() && ctas > 4096)) continue;
      rows.push_back(launch_row(bench, "nothing", ctas, threads, 1));
      rows.push_back(launch_row(bench, "one_store", ctas, threads, 1));
    }
  }
  const Work spin{.image = &control_image(), .entry = "spin", .warps = 1, .iterations = 100000};
  if (bench.has_clock()) {
    const auto clock = bench.cycles_and_milliseconds(spin);
    rows.push_back({{"entry", "spin"}, {"ghz", clock->first / (clock->second * 1e6)}});
  } else {
    bench.cycles(spin);
  }
  return rows;
}

}  // namespace tessera::calibration
