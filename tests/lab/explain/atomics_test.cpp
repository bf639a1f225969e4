// Rates of atomics against what was measured (results/calibration/h200_calibration.json and
// h100_atomics.json), and the updates that counts make of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "arch/costs.h"
#include "arch/gpus.h"
#include "lab/model/resources.h"

namespace tessera::lab {
namespace {

struct Measured {
  std::string pattern;
  double cycles = 0;
  double at_one = 0, at_one_bank = 0, sectors = 0;  // lanes, lanes, of one request
};

std::vector<Measured> measured(const char* group, const char* entry) {
  std::ifstream stream(std::string(TESSERA_SOURCE_DIR) +
                       "/results/calibration/h200_calibration.json");
  const auto all = nlohmann::json::parse(stream).at(group);
  std::map<std::string, std::vector<unsigned>> offsets;  // of 32-bit accesses
  for (const auto& row : all) {
    if (row.value("bits", 0) == 32 && row.contains("offsets"))
      row.at("offsets").get_to(offsets[row.at("pattern")]);
  }
  std::vector<Measured> rows;
  for (const auto& row : all) {
    if (row.at("entry") != entry) continue;
    std::map<unsigned, int> lanes, banks;
    std::set<unsigned> sectors;
    Measured one{row.at("pattern"), row.at("cycles")};
    for (const unsigned offset : offsets.at(one.pattern)) {
      one.at_one = std::max<double>(one.at_one, ++lanes[offset]);
      one.at_one_bank = std::max<double>(one.at_one_bank, ++banks[offset / 4 % 32]);
      sectors.insert(offset / 32);
    }
    one.sectors = static_cast<double>(sectors.size());
    rows.push_back(one);
  }
  return rows;
}

// In global memory, no measured request takes less than the model's time. Requests limited only by
// sectors, or only by lanes at one address, take little more.
TEST(Atomics, NoRequestToL2TakesLessThanTheModelSays) {
  const arch::Costs costs;
  const auto rows = measured("global_memory", "global_atomic_add");
  ASSERT_GT(rows.size(), 10u);
  for (const Measured& row : rows) {
    const double least = costs.l2_atomic * std::max(row.sectors, row.at_one);
    EXPECT_GE(row.cycles, 0.99 * least) << row.pattern;
    const bool is_plain = row.pattern == "one place" || row.pattern == "stride 8" ||
                          row.pattern == "stride 1" || row.pattern == "stride 4";
    EXPECT_TRUE(!is_plain || row.cycles <= 1.2 * least) << row.pattern << ": " << row.cycles;
  }
}

Site update(const char* form, bool is_shared, std::uint64_t lanes, std::uint64_t at_one,
            std::uint64_t sectors) {
  constexpr std::uint64_t kRequests = 1000;
  Site site;
  site.form = form;
  site.memory.traffic = vgpu::Traffic::kAtomic;
  auto& global = site.memory.global;
  auto& shared = site.memory.shared;
  (is_shared ? shared.requests : global.requests) = kRequests;
  (is_shared ? shared.lanes : global.lanes) = lanes * kRequests;
  (is_shared ? shared.same_address_lanes : global.same_address_lanes) = at_one * kRequests;
  if (!is_shared) global.sectors = sectors * kRequests;
  return site;
}

TEST(Atomics, UpdatesThatGoOneAfterAnother) {
  EXPECT_EQ(serial_updates_of(update("red.shared.add.f32", true, 32, 32, 0)).shared_clocks,
            32000 * 11.8);
  EXPECT_EQ(serial_updates_of(update("atom.shared.add.u32", true, 32, 8, 0)).shared_clocks, 8000);
  for (const char* half : {"red.shared.add.noftz.f16", "red.shared.add.noftz.bf16x2"}) {
    EXPECT_EQ(serial_updates_of(update(half, true, 32, 32, 0)).shared_clocks, 32000 * 11.8);
    EXPECT_TRUE(serial_updates_of(update(half, true, 32, 32, 0)).are_floats);
  }
  EXPECT_FALSE(serial_updates_of(update("atom.shared.add.u32", true, 32, 8, 0)).are_floats);
  EXPECT_EQ(serial_updates_of(update("red.global.add.f32", false, 32, 1, 4)).l2, 4000);
  EXPECT_EQ(serial_updates_of(update("red.global.add.f32", false, 32, 16, 4)).l2, 16000);
  EXPECT_EQ(serial_updates_of(update("red.global.add.f32", false, 32, 16, 4)).shared_clocks, 0);
  Site load = update("ld.global.f32", false, 32, 1, 4);
  load.memory.traffic = vgpu::Traffic::kLoad;
  EXPECT_EQ(serial_updates_of(load).l2, 0);
}
// ptxas may add up a warp's integers where it sees that they have one address.
TEST(Atomics, AWarpsIntegersMayBeAddedUpFirst) {
  EXPECT_EQ(serial_updates_of(update("atom.global.add.u32", false, 32, 32, 1)).l2, 1000);
  EXPECT_EQ(serial_updates_of(update("atom.shared.add.s32", true, 32, 32, 0)).shared_clocks, 1000);
  EXPECT_EQ(serial_updates_of(update("atom.global.add.u64", false, 32, 32, 1)).l2, 32000);
  EXPECT_EQ(serial_updates_of(update("atom.global.max.u32", false, 32, 32, 1)).l2, 32000);
}

TEST(Atomics, HaveATimeOfTheirOwn) {
  const arch::Gpu& gpu = arch::kH200;
  Totals totals;
  totals.updates = {1e9, 1e9, 1e9, 0.57e9};
  totals.written_sectors = 1e3;
  const auto uses = resources_of(totals, gpu);
  ASSERT_EQ(uses.size(), 3u);
  const double clocks_a_ms = gpu.sms * gpu.clock_ghz * 1e6;
  EXPECT_EQ(uses[0].name, "atomics in L2");
  EXPECT_NEAR(uses[0].ms, 2.05e9 / clocks_a_ms, 1e-9);
  EXPECT_EQ(uses[1].name, "atomics in shared memory");
  EXPECT_NEAR(uses[1].ms, 1e9 / clocks_a_ms, 1e-9);
  EXPECT_EQ(uses[2].name, "one sector in L2");
  EXPECT_NEAR(uses[2].ms, 1e6 * 0.57e-6, 1e-9) << "a million updates of each sector";
}

// In shared memory: as many cycles as lanes want one bank, and so at least as one address.
TEST(Atomics, OfSharedMemoryTakeACycleForEachLaneOfABank) {
  const arch::Costs costs;
  const auto rows = measured("shared_memory", "shared_atomic_add");
  for (const Measured& row : rows) {
    EXPECT_NEAR(row.cycles, costs.shared_atomic * row.at_one_bank, 0.02 * row.at_one_bank)
        << row.pattern;
  }
  EXPECT_GT(rows.size(), 20u);
}

// ---- results/calibration/h100_atomics.json ------------------------------------------------------

struct Row {
  std::string entry, pattern, where;
  double value = 0;  // cycles or nanoseconds of a request
  double lanes = 0, at_one = 0, sectors = 0;
};

std::vector<Row> rows_of(const std::string& where) {
  std::ifstream stream(std::string(TESSERA_SOURCE_DIR) + "/results/calibration/h100_atomics.json");
  std::vector<Row> rows;
  const auto file = nlohmann::json::parse(stream);
  for (const auto& row : file.at("atomics")) {
    if (!row.contains("where") || row.at("where") != where) continue;
    const char* value = row.contains("cycles") ? "cycles" : "nanoseconds";
    rows.push_back({row.at("entry"), row.at("pattern"), where, row.at(value), row.at("lanes"),
                    row.at("lanes_at_one"), row.at("sectors")});
  }
  return rows;
}

// Measured sums in shared memory take at least the model's time, and at most a fifth more.
TEST(Atomics, SumsInSharedMemoryTakeWhatTheModelSays) {
  int compared = 0;
  for (const Row& row : rows_of("one SM, a warp its own")) {
    if (!row.entry.starts_with("shared_red_add") || row.pattern.starts_with("stride")) continue;
    std::string form = "red.shared.add." + row.entry.substr(row.entry.rfind('_') + 1);
    Site site;
    site.form = form;
    site.memory.traffic = vgpu::Traffic::kAtomic;
    site.memory.shared.requests = 1;
    site.memory.shared.lanes = 33;  // not all at one address: nothing is added up before
    site.memory.shared.same_address_lanes = static_cast<std::uint64_t>(row.at_one);
    const double model = serial_updates_of(site).shared_clocks;
    EXPECT_GE(row.value, 0.99 * model) << row.entry << ", " << row.pattern;
    EXPECT_LE(row.value, 1.2 * model) << row.entry << ", " << row.pattern;
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

// All warps of the grid at one address, or at one line: what the model says, and little more.
TEST(Atomics, TheHottestAddressTakesWhatTheModelSays) {
  const arch::Costs costs;
  int compared = 0;
  for (const Row& row : rows_of("the grid, all warps alike")) {
    const bool is_float = row.entry.find("_f") != std::string::npos;
    const bool is_one = row.pattern.find("one address") != std::string::npos ||
                        row.pattern == "32 lanes an address";
    if (!row.entry.starts_with("global_red")) continue;
    EXPECT_GE(row.value, costs.hot_sector_ns) << row.entry << ", " << row.pattern;
    if (!is_one || row.value > 2.2 * row.at_one) continue;  // of few CTAs: not busy enough
    const double model = row.at_one * (is_float ? costs.hot_float_ns : costs.hot_integer_ns);
    EXPECT_GE(row.value, 0.85 * model) << row.entry << ", " << row.pattern;
    const bool is_busy = row.pattern == "32 lanes an address";
    EXPECT_TRUE(!is_busy || row.value <= 1.05 * model) << row.entry << ": " << row.value;
    ++compared;
  }
  EXPECT_GT(compared, 30);
}
TEST(Atomics, OneLineIsServedSectorBySector) {
  const arch::Costs costs;
  for (const Row& row : rows_of("the grid, all warps alike")) {
    const bool is_32 = row.entry == "global_red_add_u32" || row.entry == "global_red_add_f32" ||
                       row.entry == "global_red_max_u32";
    if (!is_32 || row.pattern != "stride 1") continue;
    EXPECT_NEAR(row.value / row.sectors, costs.hot_sector_ns, 0.06 * costs.hot_sector_ns)
        << row.entry;
  }
}

// Random bins of one sector, all of the grid: lanes of a request share addresses, and the one that
// most of them want says how long it takes.
TEST(Atomics, AHistogramInOneSectorTakesWhatTheModelSays) {
  std::mt19937 random(1);
  double most = 0;
  constexpr int kRequests = 20000;
  for (int i = 0; i < kRequests; ++i) {
    int lanes[4] = {};
    for (int lane = 0; lane < 32; ++lane) ++lanes[random() >> 8 & 3];
    most += *std::max_element(lanes, lanes + 4);
  }
  most /= kRequests;
  std::ifstream stream(std::string(TESSERA_SOURCE_DIR) + "/results/calibration/h100_atomics.json");
  const auto file = nlohmann::json::parse(stream);
  int compared = 0;
  for (const auto& row : file.at("atomics")) {
    if (row.value("bins", 0) != 4 || !row.contains("nanoseconds")) continue;
    const bool is_float = row.at("entry") == "global_histogram_f32";
    Site site = update(is_float ? "red.global.add.f32" : "red.global.add.u32", false, 32, 11, 1);
    const double model =
        serial_updates_of(site).meeting_ns / serial_updates_of(site).meeting * most;
    EXPECT_NEAR(row.at("nanoseconds").get<double>(), model, 0.05 * model) << row.at("entry");
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

}  // namespace
}  // namespace tessera::lab
