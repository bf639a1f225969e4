// Our counts of the rungs beside those of NVIDIA's profiler on an H200 (results/h200_ncu.json, kept
// by tools/compare_ncu.py). What differs is named here, with the reason.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "lab/count_run.h"
#include "lab/count_tag.h"

namespace tessera::lab {
namespace {

using Counts = std::map<std::string, double>;

nlohmann::json profiled_launches() {
  std::ifstream file(std::string(TESSERA_SOURCE_DIR) + "/results/h200_ncu.json");
  return nlohmann::json::parse(file).at("launches");
}

// The same names as in the file.
Counts ours(const LaunchCounts& launch) {
  const vgpu::LaunchMemory& m = launch.memory;
  const CountSummary sum = summarize({launch});
  Counts counts;
  const auto put = [&](const char* name, std::uint64_t value) {
    counts[name] = static_cast<double>(value);
  };
  const auto lanes = [&](InstructionClass kind) {
    const auto at = sum.mix.find(kind);
    return at == sum.mix.end() ? 0 : at->second.thread;
  };
  put("ffma_threads", lanes(InstructionClass::kFmaF32));
  put("dfma_threads", lanes(InstructionClass::kFmaF64));
  put("global_load_requests", m.loads.global.requests);
  put("global_load_sectors", m.loads.global.sectors);
  put("global_store_requests", m.stores.global.requests);
  put("global_store_sectors", m.stores.global.sectors);
  put("shared_load_requests", m.loads.shared.requests);
  put("shared_load_wavefronts", m.loads.shared.pair.wavefronts);
  put("shared_store_requests", m.stores.shared.requests);
  put("shared_store_wavefronts", m.stores.shared.pair.wavefronts);
  return counts;
}

// Between which factors of ours the profiler's count may lie.
struct Range {
  double low = 1, high = 1;
};

Range expected(const std::string& entry, const std::string& name, bool is_crowded) {
  const bool uses_generic_addresses = entry.starts_with("rung_24_tensor_core_wmma__8x8");
  // The profiler's sectors of stores change from run to run, and may lie below the bytes stored.
  if (name == "global_store_sectors") return {0.96, 1.01};
  // Wavefronts that meet data on their way back from global memory are counted again: of loads
  // seldom, of stores often on a grid that fills the GPU.
  if (name == "shared_load_wavefronts") return {1, uses_generic_addresses ? 1.04 : 1.002};
  if (name == "shared_store_wavefronts") return {1, is_crowded ? 1.25 : 1};
  // It counts STS only; the wmma API stores through generic addresses.
  if (name == "shared_store_requests" && uses_generic_addresses) return {0, 1};
  return {};
}

void compare(const std::string& entry, const Counts& counts, const nlohmann::json& profiled,
             bool is_crowded) {
  for (const auto& [name, value] : counts) {
    const double theirs = profiled.at(name);
    const Range range = expected(entry, name, is_crowded);
    EXPECT_GE(theirs, value * range.low) << entry << ' ' << name;
    EXPECT_LE(theirs, value * range.high) << entry << ' ' << name;
  }
}

// Every launch of every kernel whose cubin is its PTX; the others are named models and not
// compared.
int compare_all(const char* kernels, std::int64_t m, std::int64_t n, std::int64_t k,
                bool is_crowded) {
  Problem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  const auto device = make_virtual_device();
  int compared = 0;
  const nlohmann::json all = profiled_launches();
  for (const KernelChoice& choice : choose_kernels(kernels)) {
    Problem typed = problem;
    typed.type = choice.kernel->type;
    const CountedRun run = count_run(*device, choice, typed, 1, 0);
    for (std::size_t i = 0; i < run.launches.size(); ++i) {
      const std::string& entry = run.launches[i].entry;
      if (!cubin_differences(image_of(*choice.kernel), {entry}).empty()) continue;
      for (const nlohmann::json& one : all) {
        if (one.at("entry") != entry || one.at("m") != m || one.at("n") != n) continue;
        compare(entry, ours(run.counts[i]), one, is_crowded);
        ++compared;
      }
    }
  }
  return compared;
}

TEST(Ncu, CountsOfASmallRaggedProblemAreThoseOfTheProfiler) {
  EXPECT_GT(compare_all("all", 259, 131, 67, false), 10);
}

TEST(Ncu, CountsOfALargeProblemAreThoseOfTheProfiler) {
  EXPECT_GE(compare_all("08,09,10,11,12", 512, 512, 512, true), 2);
}

}  // namespace
}  // namespace tessera::lab
