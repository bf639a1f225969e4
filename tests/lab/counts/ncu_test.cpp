// Our counts of the rungs beside those of NVIDIA's profiler on an H200
// (results/calibration/h200_ncu.json, kept by tools/calibrate/compare_ncu.py). They are equal to
// the last digit; where L1's own counters say something else, docs/counts.md explains why, and this
// test says by how much at most.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/renamed.h"
#include "device/virtual/virtual_device.h"
#include "lab/counts/count_run.h"
#include "lab/counts/count_tag.h"

namespace tessera::lab {
namespace {

using Counts = std::map<std::string, double>;

nlohmann::json profiled_launches() {
  std::ifstream file(std::string(TESSERA_SOURCE_DIR) + "/results/calibration/h200_ncu.json");
  return nlohmann::json::parse(read_with_current_names(file)).at("launches");
}

// The profiler counts STS and LDS alone; generic addresses may lie in shared memory, too.
std::uint64_t generic_requests(const LaunchCounts& launch, FormKind kind) {
  std::uint64_t requests = 0;
  for (const InstructionCount& row : launch.instructions) {
    const FormClass form = classify(row.form);
    if (form.kind == kind && form.space == FormSpace::kNone) requests += row.memory.shared.requests;
  }
  return requests;
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
  put("global_sectors", m.loads.global.sectors + m.stores.global.sectors);
  put("shared_load_requests", m.loads.shared.requests - generic_requests(launch, FormKind::kLoad));
  put("shared_load_wavefronts", m.loads.shared.pair.wavefronts);
  put("shared_store_requests",
      m.stores.shared.requests - generic_requests(launch, FormKind::kStore));
  put("shared_store_wavefronts", m.stores.shared.pair.wavefronts);
  return counts;
}

// Counts in which the profiler differs.
std::set<std::string> differences(const Counts& counts, const nlohmann::json& profiled) {
  std::set<std::string> names;
  for (const auto& [name, value] : counts) {
    if (profiled.at(name) != value) names.insert(name);
  }
  return names;
}

// How much more of them L1 may count.
struct Again {
  double loads = 1, stores = 1;
};

// What L1 itself counts lies above: wavefronts that were sent again are counted again.
void expect_few_again(const Counts& counts, const nlohmann::json& profiled, const Again& again) {
  for (const auto& [name, most] : {std::pair("shared_load_wavefronts", again.loads),
                                   {"shared_store_wavefronts", again.stores}}) {
    const double l1 = profiled.at(std::string("l1_") + name), exact = counts.at(name);
    EXPECT_GE(l1, exact) << profiled.at("entry") << ' ' << name;
    EXPECT_LE(l1, exact * most) << profiled.at("entry") << ' ' << name;
  }
}

struct Compared {
  std::set<std::string> same;                          // launches
  std::map<std::string, std::set<std::string>> model;  // launches, and the counts that differ
};

// Launches whose cubin is their PTX must be equal, the others are models.
Compared compare_all(const char* kernels, const Problem& problem, const Again& again) {
  const auto device = make_virtual_device();
  Compared compared;
  const nlohmann::json all = profiled_launches();
  for (const KernelChoice& choice : choose_kernels(kernels)) {
    if (choice.kernel->family == "warpgroups") continue;  // not profiled, and refuse odd rows
    Problem typed = problem;
    typed.types = choice.kernel->types;
    const CountedRun run = count_run(*device, choice, typed, 1, 0);
    for (std::size_t i = 0; i < run.launches.size(); ++i) {
      const std::string& entry = run.launches[i].entry;
      const bool is_same = cubin_differences(*choice.kernel, {entry}).empty();
      for (const nlohmann::json& one : all) {
        if (one.at("entry") != entry || one.at("m") != problem.m || one.at("n") != problem.n) {
          continue;
        }
        const Counts counts = ours(run.counts[i]);
        const std::set<std::string> differing = differences(counts, one);
        if (!is_same) {
          compared.model[entry] = differing;
          continue;
        }
        compared.same.insert(entry);
        for (const std::string& name : differing) {
          ADD_FAILURE() << entry << ' ' << name << ": " << counts.at(name) << " here, "
                        << one.at(name) << " there";
        }
        expect_few_again(counts, one, again);
      }
    }
  }
  return compared;
}

Problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  return problem;
}

const std::set<std::string> kSame = {
    "rung_01_strided__32x32",
    "rung_02_coalesced__32x32",
    "rung_03_shared_tile__32x32x32",
    "rung_04_flat_index__32x32x32",
    "rung_05_conflict_free__32x32x32",
    "rung_06_four_outputs__32x32x32",
    "rung_07_vector_access__32x32x32_ak_bn",
    "rung_08_tile_4x4__64x64x16_ak_bn",
    "rung_09_tile_8x8__128x128x8_ak_bn",
    "rung_10_general_tile__128x128x8_ak_bn",
    "rung_11_double_buffer__128x128x8_ak_bn",
    "rung_12_warp_tile__128x128x8_ak_bn",
    "rung_21_packed_blocks__8x8__pack_a",
    "rung_21_packed_blocks__8x8__pack_b",
    "rung_21_packed_blocks__8x8",
    "rung_22_packed_shared__8x8__pack_a",
    "rung_22_packed_shared__8x8__pack_b",
    "rung_23_packed_conflict_free__8x8__pack_a",
    "rung_23_packed_conflict_free__8x8__pack_b",
    "rung_23_packed_conflict_free__8x8",
    "rung_24_tensor_core_wmma__8x8__pack_a",
    "rung_24_tensor_core_wmma__8x8__pack_b",
    "rung_24_tensor_core_wmma__8x8",
};
// ptxas merges neighbouring loads of it: fewer and wider ones.
const std::map<std::string, std::set<std::string>> kModel = {
    {"rung_22_packed_shared__8x8", {"shared_load_requests", "shared_load_wavefronts"}}};

// Few blocks, so that no SM has two that store and load at once.
TEST(Ncu, CountsOfASmallRaggedProblemAreThoseOfTheProfiler) {
  const Compared compared = compare_all("all", problem_of(259, 131, 67), {1.01, 1});
  EXPECT_EQ(compared.same, kSame);
  EXPECT_EQ(compared.model, kModel);
}

TEST(Ncu, CountsOfALargeProblemAreThoseOfTheProfiler) {
  const Compared compared =
      compare_all("05,06,07,08,09,10,11,12,24", problem_of(512, 512, 512), {1.04, 1.25});
  EXPECT_EQ(compared.same.size(), 11u);
  EXPECT_TRUE(compared.model.empty());
}

// ---- accesses that meet (results/calibration/h200_collisions.json)
// ------------------------------------------

// Wavefronts of shared memory that both kinds of warps ask for: "STS.32", "LDS.64 in pairs", ...
double asked(const nlohmann::json& row, const std::string& name) {
  double sum = 0;
  for (const char* role : {"first", "second"}) {
    const nlohmann::json& part = row.at(role);
    const std::string access = part.at("access");
    if (access.find(name) != access.npos) sum += part.at("shared_wavefronts").get<double>();
  }
  return sum;
}

bool touches_global_memory(const nlohmann::json& row) {
  const std::string both = row.at("first").at("access").get<std::string>() +
                           row.at("second").at("access").get<std::string>();
  return both.find("LDG") != both.npos || both.find("STG") != both.npos;
}

// Beside global memory alone L1 counts wavefronts again; alone, and beside any other access of
// shared memory, each launch is counted exactly.
TEST(Collisions, OfSharedMemoryWithItselfAreNotCounted) {
  std::ifstream file(std::string(TESSERA_SOURCE_DIR) + "/results/calibration/h200_collisions.json");
  const nlohmann::json rows = nlohmann::json::parse(file).at("collisions");
  int exact = 0, again = 0;
  for (const nlohmann::json& row : rows) {
    const bool beside_global = touches_global_memory(row);
    for (const auto& [access, name] :
         {std::pair("LDS", "load_wavefronts"), {"STS", "store_wavefronts"}}) {
      for (const double counted : row.at("counted").at(name)) {
        EXPECT_GE(counted, asked(row, access)) << row;
        if (!beside_global) {
          EXPECT_EQ(counted, asked(row, access)) << row;
        }
        (counted > asked(row, access) ? again : exact) += 1;
      }
    }
  }
  EXPECT_GT(exact, 100);
  EXPECT_GT(again, 10);
}

}  // namespace
}  // namespace tessera::lab
