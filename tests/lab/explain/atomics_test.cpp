// Rates of atomics against what was measured (results/calibration/h200_calibration.json), and the
// updates that counts make of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "arch/costs.h"
#include "arch/gpus.h"
#include "lab/explain/resources.h"

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

// Of global memory: no measured request takes less than the model says, and those that are nothing
// but sectors, or lanes at one address, take little more.
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
  EXPECT_EQ(serial_updates_of(update("red.shared.add.f32", true, 32, 32, 0)).shared, 32000);
  EXPECT_EQ(serial_updates_of(update("atom.shared.add.u32", true, 32, 8, 0)).shared, 8000);
  EXPECT_EQ(serial_updates_of(update("red.global.add.f32", false, 32, 1, 4)).l2, 4000);
  EXPECT_EQ(serial_updates_of(update("red.global.add.f32", false, 32, 16, 4)).l2, 16000);
  EXPECT_EQ(serial_updates_of(update("red.global.add.f32", false, 32, 16, 4)).shared, 0);
  Site load = update("ld.global.f32", false, 32, 1, 4);
  load.memory.traffic = vgpu::Traffic::kLoad;
  EXPECT_EQ(serial_updates_of(load).l2, 0);
}
// ptxas may add up a warp's integers where it sees that they have one address.
TEST(Atomics, AWarpsIntegersMayBeAddedUpFirst) {
  EXPECT_EQ(serial_updates_of(update("atom.global.add.u32", false, 32, 32, 1)).l2, 1000);
  EXPECT_EQ(serial_updates_of(update("atom.shared.add.s32", true, 32, 32, 0)).shared, 1000);
  EXPECT_EQ(serial_updates_of(update("atom.global.add.u64", false, 32, 32, 1)).l2, 32000);
  EXPECT_EQ(serial_updates_of(update("atom.global.max.u32", false, 32, 32, 1)).l2, 32000);
}

TEST(Atomics, HaveATimeOfTheirOwn) {
  const arch::Gpu& gpu = arch::kH200;
  Totals totals;
  totals.updates = {1e9, 1e9};
  const auto uses = resources_of(totals, gpu);
  ASSERT_EQ(uses.size(), 2u);
  const double clocks_a_ms = gpu.sms * gpu.clock_ghz * 1e6;
  EXPECT_EQ(uses[0].name, "atomics in L2");
  EXPECT_NEAR(uses[0].ms, 2.05e9 / clocks_a_ms, 1e-9);
  EXPECT_EQ(uses[1].name, "atomics in shared memory");
  EXPECT_NEAR(uses[1].ms, 1e9 / clocks_a_ms, 1e-9);
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

}  // namespace
}  // namespace tessera::lab
