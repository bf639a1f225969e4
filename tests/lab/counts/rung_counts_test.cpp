// The rungs counted, against what the arithmetic of docs/counts.md says of them, at multiples of
// their tiles.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/renamed.h"
#include "device/virtual/virtual_device.h"
#include "lab/bench/bench.h"
#include "lab/counts/count_run.h"
#include "lab/counts/counts.h"
#include "lab/counts/counts_json.h"

namespace tessera::lab {
namespace {

constexpr std::int64_t kM = 128, kN = 64, kK = 96;
constexpr std::uint64_t kProducts = kM * kN * kK, kOutputs = kM * kN, kLanes = 32;

Problem problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem p;
  p.m = m;
  p.n = n;
  p.k = k;
  return p;
}

CountSummary counts_of(const char* pattern, const Problem& p, std::uint64_t sample = 0,
                       int host_threads = 0) {
  const auto device = make_virtual_device({.host_threads = host_threads});
  return summarize(count_run(*device, choose_kernels(pattern).front(), p, 1, sample).counts, p);
}

CountSummary counts_of(const char* pattern) { return counts_of(pattern, problem(kM, kN, kK)); }

TEST(RungCounts, StridedTakesALineALane) {
  const CountSummary c = counts_of("01");
  const vgpu::GlobalCounts& loads = c.memory.loads.global;
  EXPECT_EQ(loads.requests, 2 * kProducts / kLanes);
  EXPECT_EQ(loads.sectors, (32 + 1) * kProducts / kLanes) << "of one operand 32, of the other 1";
  EXPECT_EQ(c.memory.stores.global.sectors, kOutputs) << "32 a request";
  EXPECT_EQ(c.memory.stores.global.partial_sectors, kOutputs);
  EXPECT_EQ(c.memory.stores.global.requests, kOutputs / kLanes);
}

TEST(RungCounts, CoalescedTakesFourAndOne) {
  const CountSummary c = counts_of("02");
  EXPECT_EQ(c.memory.loads.global.sectors, (4 + 1) * kProducts / kLanes);
  EXPECT_EQ(c.memory.stores.global.sectors, 4 * kOutputs / kLanes);
  EXPECT_EQ(c.memory.stores.global.partial_sectors, 0u);
  EXPECT_EQ(c.flop, 2 * kProducts);
  const double words = 2.0 * kProducts + kOutputs;
  EXPECT_DOUBLE_EQ(c.flop_per_byte().requested, 2.0 * kProducts / (4 * words));
  EXPECT_EQ(c.memory.footprint.read_bytes(), 4u * (kM * kK + kK * kN));
  EXPECT_EQ(c.memory.footprint.written_bytes(), 4 * kOutputs);
}

// Half of each block of 256 lies outside of 128 columns: its products run, and nobody wants them.
TEST(RungCounts, ProductsBeyondTheEdgeAreNotUseful) {
  const CountSummary whole = counts_of("13", problem(256, 256, 32));
  const CountSummary half = counts_of("13", problem(256, 128, 32));
  EXPECT_EQ(whole.flop, whole.useful_flop);
  EXPECT_EQ(half.flop, whole.flop);
  EXPECT_EQ(half.useful_flop, whole.flop / 2);
  EXPECT_DOUBLE_EQ(half.fma_per_shared_load(), whole.fma_per_shared_load() / 2);
}

// The four kernels of the text that rungs 21-23 follow, without packing: lanes walk the rows of
// blocks.
TEST(RungCounts, PackedBlocksWithLanesAlongTheirRows) {
  const auto device = make_virtual_device();
  const auto wavefronts = [&](const char* kernel) {
    const KernelChoice choice = choose_kernels(kernel).front();
    Problem p = problem(256, 256, 256);
    p.types = choice.kernel->types;
    const CountedRun run = count_run(*device, choice, p, 1, 0);
    EXPECT_EQ(run.counts.size(), 3u) << "two that pack, one that multiplies";
    const CountSummary c = summarize({run.counts.back()});
    std::uint64_t sum = c.memory.global().data_wavefronts;
    for (const vgpu::MemoryCounts& counts : {c.memory.loads, c.memory.stores}) {
      sum += counts.shared.pair.wavefronts;
    }
    return std::lround(static_cast<double>(sum) / 1e4);
  };
  EXPECT_EQ(wavefronts("21/lanes_down"), 528);
  EXPECT_EQ(wavefronts("21/lanes_down_bt"), 528);
  EXPECT_EQ(wavefronts("22/lanes_down"), 646);
  EXPECT_EQ(wavefronts("23/lanes_down"), 292);
}

TEST(RungCounts, SharedTileConflictsThirtyTwoWays) {
  const CountSummary c = counts_of("03");
  EXPECT_EQ(c.memory.loads.global.requested_bytes, 4 * (kProducts / 32 + kProducts / 32));
  const vgpu::SharedCounts& loads = c.memory.loads.shared;
  EXPECT_EQ(loads.requests, 2 * kProducts / kLanes);
  EXPECT_EQ(loads.plain.excess(), 31 * kProducts / kLanes) << "of one tile; the other is free";
  EXPECT_EQ(loads.pair.excess(), loads.plain.excess());
  const vgpu::SharedCounts& stores = c.memory.stores.shared;
  EXPECT_EQ(stores.requests, 2 * kProducts / 32 / kLanes);
  EXPECT_EQ(stores.plain.excess(), 31 * kProducts / 32 / kLanes);
}

TEST(RungCounts, ConflictFreeLoadsHaveNoExcess) {
  const CountSummary c = counts_of("05");
  EXPECT_EQ(c.memory.loads.shared.requests, 2 * kProducts / kLanes);
  EXPECT_EQ(c.memory.loads.shared.plain.excess(), 0u);
  EXPECT_EQ(c.memory.stores.shared.plain.excess(), 0u);
}

TEST(RungCounts, WarpTileReadsWithoutExcess) {
  const CountSummary c = counts_of("12", problem(256, 128, 64));
  const vgpu::SharedCounts& loads = c.memory.loads.shared;
  EXPECT_EQ(loads.plain.excess(), 0u);
  EXPECT_EQ(loads.plain.wavefronts, 4 * loads.requests);
  EXPECT_EQ(loads.pair.wavefronts, 2 * loads.requests);
}

TEST(RungCounts, DoNotDependOnHostThreads) {
  for (const char* rung : {"02", "06", "11"}) {
    const CountSummary one = counts_of(rung, problem(190, 150, 70), 0, 1);
    const CountSummary two = counts_of(rung, problem(190, 150, 70), 0, 2);
    EXPECT_EQ(one.memory.loads.global.sectors, two.memory.loads.global.sectors) << rung;
    EXPECT_EQ(one.memory.loads.shared.plain.wavefronts, two.memory.loads.shared.plain.wavefronts);
    EXPECT_EQ(one.memory.stores.global.partial_sectors, two.memory.stores.global.partial_sectors);
    EXPECT_EQ(one.memory.footprint.read_sectors, two.memory.footprint.read_sectors);
    EXPECT_EQ(one.memory.footprint.cluster_read_sectors, two.memory.footprint.cluster_read_sectors);
    EXPECT_EQ(one.total.thread, two.total.thread);
  }
}

// A sample of a ragged grid stands for the whole within a few percent, and its footprint too.
TEST(RungCounts, ASampleIsNearTheWhole) {
  const Problem p = problem(1000, 700, 64);
  const CountSummary whole = counts_of("02", p), part = counts_of("02", p, 96);
  EXPECT_FALSE(whole.is_sample());
  ASSERT_TRUE(part.is_sample());
  const auto near = [](std::uint64_t got, std::uint64_t want, double tolerance) {
    EXPECT_NEAR(static_cast<double>(got) / static_cast<double>(want), 1, tolerance);
  };
  near(part.memory.loads.global.sectors, whole.memory.loads.global.sectors, 0.05);
  near(part.total.thread, whole.total.thread, 0.05);
  near(part.memory.footprint.read_sectors, whole.memory.footprint.read_sectors, 0.2);
  near(part.memory.footprint.written_sectors, whole.memory.footprint.written_sectors, 0.1);
}

Json json_file(const std::string& path) {
  std::ifstream stream(path);
  EXPECT_TRUE(stream.is_open()) << path;
  return Json::parse(read_with_current_names(stream));
}

// Each value that differs, by its name: "memory/loads/global/sectors: 5, stored 4". Files hold six
// digits, and no lines: where code stands is no count.
void add_differences(const Json& counted, const Json& stored, const std::string& name,
                     std::vector<std::string>& found) {
  if (name == "/lines") return;
  if (counted.is_object() && stored.is_object()) {
    for (const auto& [key, value] : counted.items()) {
      add_differences(value, stored.value(key, Json()), name + "/" + key, found);
    }
    for (const auto& [key, value] : stored.items()) {
      if (!counted.contains(key)) found.push_back(name + "/" + key + ": is stored alone");
    }
    return;
  }
  const bool are_near = counted.is_number_float() && stored.is_number() &&
                        std::abs(counted.get<double>() - stored.get<double>()) <=
                            1e-5 * std::abs(counted.get<double>());
  if (counted == stored || are_near) return;
  found.push_back(name.substr(1) + ": " + counted.dump() + ", stored " + stored.dump());
}

std::vector<std::string> differences(const Json& counted, const Json& stored) {
  std::vector<std::string> found;
  add_differences(counted, stored, "", found);
  return found;
}

TEST(RungCounts, DifferencesAreNamedByTheirKeys) {
  const Json counted = {{"flop", 4}, {"a", {{"b", 1}, {"share", 0.123456789}}}, {"new", 1}};
  const Json stored = {{"flop", 4}, {"a", {{"b", 2}, {"share", 0.123457}}}, {"old", 1}};
  EXPECT_EQ(differences(counted, stored),
            (std::vector<std::string>{"a/b: 1, stored 2", "new: 1, stored null",
                                      "/old: is stored alone"}));
  EXPECT_EQ(differences(Json{{"lines", 1}}, Json{{"lines", 2}}), std::vector<std::string>{});
  EXPECT_EQ(differences(Json{{"x", 0.1235}}, Json{{"x", 0.1234}}).size(), 1u);
}

// The pages of the ladder show what this build counts. Another compiler may write another PTX: that
// is no fault of the file.
TEST(RungCounts, AreThoseOfTheCommittedFile) {
  const std::string compiler = json_file("results/ladder/ladder_cubin.json").at("compiler");
  const KernelChoice choice = choose_kernels("02").front();
  const std::string_view ptx = image_of(*choice.kernel, first_entry_of(choice)).ptx;
  if (ptx.find(compiler.substr(compiler.find(' ') + 1)) == ptx.npos)
    GTEST_SKIP() << "not " << compiler;
  const auto device = make_virtual_device();
  vgpu::Observation observation;
  observation.memory = true;
  device->observe(observation);
  const Json file = json_file("results/ladder/ladder_counts.json");
  ASSERT_GT(file.at("runs").size(), 20u);
  for (const Json& run : file.at("runs")) {
    if (run.at("counts").is_null()) continue;  // a patched one: its PTX is another's
    const std::string name =
        run.at("kernel").get<std::string>() + "/" + run.at("config").get<std::string>();
    const KernelChoice kernel = choose_kernels(name).front();
    Problem p = problem(run["problem"]["m"], run["problem"]["n"], run["problem"]["k"]);
    p.types = kernel.kernel->types;
    const Record record = bench(*device, {{kernel}}, p).front();
    ASSERT_TRUE(record.counts) << name;
    for (const std::string& difference : differences(to_json(*record.counts), run.at("counts"))) {
      ADD_FAILURE() << name << ": " << difference << "; if it should, run tools/refresh_rung "
                    << name.substr(0, 2);
    }
  }
}

}  // namespace
}  // namespace tessera::lab
