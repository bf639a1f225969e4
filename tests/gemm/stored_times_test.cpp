// The cost model against every run in results/ of a kernel that the library has: how near its times
// are, and what is lost where another kernel than the one taken was faster. The files are read, so
// what is measured anew is compared anew. The model's constants were fitted to some of these runs;
// of shapes that nobody measured this proves nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>

#include "gemm/cost/cost_table.h"
#include "lab/record/measured.h"
#include "tests/gemm/stored_runs.h"

namespace tessera {
namespace {

// The range of predicted time / measured time for runs whose text matches the pattern.
struct Range {
  const char* runs;
  double least, most;
};
constexpr Range kUsual{"", 0.84, 1.17};
// Where the model is worse, and how much worse; the first that fits counts.
constexpr Range kWorse[] = {
    // Code of an older build (2026-11-21), planned without split tiles by an option of its command.
    {"(512|1024)x.* NT by simt_f32/(128x128|64x32) .*variants/fp32.json", 1.02, 1.26},
    {"2048x.* NT by simt_f32/64x64 .*variants/fp32.json", 0.76, 0.77},
    // By an H100's table, which was fitted to sweeps: their calls follow each other without idling,
    // and large products then take as much longer as the clock is lower.
    {"results/epilogues/h100_|variants/h100_ending_tf32", 0.92, 1.32},
    {"variants/h100_tf32_8192", 1.22, 1.48},
    // Kernels by mma.sync before the main loops of today, which are faster, and before rows at odd
    // addresses were shifted out of aligned pieces.
    {"by mma_bf16/64x64 .*variants/h100_mma_rows", 0.67, 1.58},
    {"by mma_bf16/.*variants/h100_mma_rows", 0.55, 1.25},
    {"by mma_tf32/.*variants/h100_mma_rows", 0.71, 1.25},
    {"by mma_b?f16/128x128 .*tensor/b?f16_odd", 0.51, 0.54},
    // Both tiles pay one price for them, 64x64 too much.
    {"by mma_bf16/64x64 .*variants/h100_mma_odd", 1.22, 1.36},
    {"2731 of .*by mma_bf16/128x128 .*variants/h100_mma_odd", 1.17, 1.18},
    // The same before the tiles, copies and fragments of today, which are faster.
    {"by mma_tf32/.*tensor/tf32_odd", 0.28, 0.33},
    {"by mma_tf32/", 0.6, 0.62},
    {"by mma_bf16/.*(bf16_thin|thin_odd)", 0.35, 1.37},
    // Tiles of BF16 that other ones are faster than, in these shapes.
    {"_pp_split .*variants/bf16", 0.49, 1.18},
    {"x64 bf16 .*variants/bf16", 0.81, 1.33},
    {"x8192x8192 bf16 .*variants/bf16_thin", 0.62, 1.35},
    {"50257x1024x768 bf16 NN .*variants/bf16_thin", 0.8, 1.24},
    {"256x256x65536 bf16|128x128x262144 bf16", 0.95, 1.75},
    {"512x128x256 bf16", 0.65, 0.84},
    // FP32 tiles that D or the workspace does not suit.
    {"(64x100000x64|200x30000x500) .*by simt_f32_direct/256x128", 0.58, 0.85},
    {"TN within 64 MiB by simt_f32/256x128 .*fp32_direct_odd", 1.36, 1.4},
    // What is taken, and priced wrong.
    {"32x32x1048576 f32 TN", 1.2, 1.22},
    {"8192x8192x64 f32", 1.41, 1.44},
    {"by simt_f32_vector/", 0.83, 1.34},
    {"by small_", 0.75, 1.18},
    {"by mixed_f32_bf16/", 0.72, 1.22},
    {"512x4096x4096 f32,bf16,f32,f32,f16x3 NT within 64 MiB", 0.78, 0.84},
    {"1024x1024x1024 f32 NN by simt_f32_sm(75|80)", 1.5, 1.52},
    {"16384x16384x16384 (f64|tf32)", 0.79, 1.12},
    // By tables that were fitted to sweeps, whose calls follow each other without idling.
    {"by (wgmma_(bf16|f16|tf32|s8)|dmma_f64)/", 0.79, 1.42},
};

// What is lost at most where the model takes another of the measured variants than the fastest one.
struct Loss {
  const char* runs;
  double most;
};
constexpr Loss kUsualLoss{"", 0.005};
constexpr Loss kLosses[] = {
    {"512x512x512 f32 NT of .*variants/fp32.json", 0.07},  // 64x32 of that build
    {"(100000x64x64|8192x8192x64) bf16 NN of .*variants/bf16_short.json", 0.1},
    {"8192x8192x64 bf16 NN of .*variants/bf16_thin.json", 0.04},
    {"50257x1024x768 bf16 NN of", 0.07},
    {"512x128x256 bf16 NN of", 0.02},
    {"8192x8192x8192 tf32 TN within 64 MiB of results/variants/h100_tf32_8192", 0.027},
    // Within 64 MiB, by loads of single elements instead of shared panels.
    {"4095x4095x4095 f32 TN within .*variants/fp32_direct_odd.json", 0.08},
    {"50257x1024x768 f32 TN within .*variants/fp32_direct_odd.json", 0.012},
};

// The first of a table whose pattern is found in the text; null where there is none.
template <class Row, std::size_t count>
const Row* row_for(const std::string& text, const Row (&table)[count]) {
  static const std::vector<std::regex> patterns = [&] {
    std::vector<std::regex> made;
    for (const Row& row : table) made.emplace_back(row.runs);
    return made;
  }();
  for (std::size_t i = 0; i < count; ++i) {
    if (std::regex_search(text, patterns[i])) return &table[i];
  }
  return nullptr;
}

// Runs of one problem in one file were timed in turn.
std::map<std::string, std::vector<StoredRun>> runs_by_problem() {
  std::map<std::string, std::vector<StoredRun>> alike;
  for (const StoredRun& run : stored_runs("*.json")) {
    alike[problem_text_of(run) + " of " + run.file].push_back(run);
  }
  return alike;
}

gemm::PlanOptions options_of(const StoredRun& run) {
  gemm::PlanOptions options;
  if (run.workspace_limit) options.workspace_limit = *run.workspace_limit;
  options.split = run.split;
  options.packed = run.packed;
  return options;
}

double predicted(const StoredRun& run) {
  gemm::PlanOptions options = options_of(run);
  options.kernel = choose_kernels(run.kernel + "/" + run.variant).front();
  return gemm::plan(run.problem, {}, run.device, options).offers.front().cost.total();
}

TEST(StoredTimes, TheModelIsNearThem) {
  std::set<const Range*> used;
  int compared = 0;
  for (const auto& [text, runs] : runs_by_problem()) {
    for (const StoredRun& run : runs) {
      const double share = predicted(run) / run.microseconds;
      const Range* worse = row_for(text_of(run), kWorse);
      const auto is_in = [share](const Range& r) { return share >= r.least && share <= r.most; };
      if (worse && !is_in(kUsual)) used.insert(worse);
      EXPECT_TRUE(is_in(worse ? *worse : kUsual))
          << share << " of " << run.microseconds << " us: " << text_of(run);
      ++compared;
    }
  }
  EXPECT_GE(compared, 800);
  for (const Range& range : kWorse)
    EXPECT_TRUE(used.contains(&range)) << range.runs << ": a range that no run needs";
}

// The measured one that the library prefers; null where it takes none of them on its own.
const StoredRun* taken_of(const std::vector<StoredRun>& runs) {
  const StoredRun& one = runs.front();
  for (const gemm::Candidate& offer :
       gemm::plan(one.problem, {}, one.device, options_of(one)).offers) {
    for (const StoredRun& run : runs) {
      if (offer.kernel->name == run.kernel && offer.row->variant == run.variant) return &run;
    }
  }
  return nullptr;
}

// What was measured and is not offered counts as well.
TEST(StoredTimes, WhatIsTakenIsTheFastest) {
  std::set<const Loss*> used;
  int compared = 0;
  for (const auto& [text, runs] : runs_by_problem()) {
    const StoredRun* taken = taken_of(runs);
    if (!taken) continue;  // of older GPUs
    const auto fastest = std::min_element(
        runs.begin(), runs.end(),
        [](const StoredRun& x, const StoredRun& y) { return x.microseconds < y.microseconds; });
    const double loss = taken->microseconds / fastest->microseconds - 1;
    const Loss* listed = row_for(text, kLosses);
    if (listed && loss > kUsualLoss.most) used.insert(listed);
    EXPECT_LE(loss, (listed ? *listed : kUsualLoss).most)
        << text << ": " << taken->kernel << '/' << taken->variant << " is taken, "
        << fastest->kernel << '/' << fastest->variant << " is faster";
    compared += runs.size() > 1;
  }
  EXPECT_GE(compared, 70);
  for (const Loss& loss : kLosses)
    EXPECT_TRUE(used.contains(&loss)) << loss.runs << ": a loss that there is not";
}

// Rates that were not fitted are speeds of a stored run, to the digit that they have.
TEST(StoredTimes, RatesOfRungsAndPortableKernelsAreMeasuredOnes) {
  struct Row {
    const char *kernel, *variant, *file;
  };
  constexpr Row kRows[] = {
      {"08_tile_4x4", "64x64x16", "results/ladder/h200_ladder_8192.json"},
      {"06_four_outputs", "2x2", "results/ladder/h200_ladder_variants.json"},
      {"24_tensor_core_wmma", "8x8", "results/ladder/h200_ladder_4096.json"},
      {"simt_f32_sm80", "128x64", "results/h200_portable.json"},
      {"simt_f32_sm75", "128x64", "results/h200_portable.json"},
      {"simt_f64_sm80", "64x64", "results/h200_portable.json"},
      {"simt_f64_sm75", "64x64", "results/h200_portable.json"},
  };
  const std::vector<lab::Measured> runs = lab::measured_runs(".");
  for (const Row& row : kRows) {
    const double rate = gemm::rate_of(gemm::kH200Costs.rates_of(row.kernel), row.variant);
    const bool is_there = std::any_of(runs.begin(), runs.end(), [&](const lab::Measured& run) {
      return run.kernel == row.kernel && run.config == row.variant && run.file == row.file &&
             run.mode == "burst" && std::abs(run.tflops - rate) <= 0.0501;
    });
    EXPECT_TRUE(is_there) << row.kernel << ' ' << rate << " TFLOP/s in " << row.file;
  }
}

}  // namespace
}  // namespace tessera
