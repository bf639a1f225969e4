// The bank models against what an H200 took, cycle by cycle
// (results/calibration/h200_calibration.json, written by tools/calibrate): with enough warps in
// flight, an access takes as many cycles as wavefronts.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "vgpu/observe/count/bank_model.h"
#include "vgpu/observe/count/sectors.h"

namespace tessera::vgpu {
namespace {

// One wavefront a cycle is one too many for merged loads: their registers return two a cycle, but
// not without pauses. The next count is at least 0.5 away.
constexpr double kPauses = 0.2;

struct Measured {
  std::string what;
  std::uint32_t bytes = 0;
  bool is_load = false;
  std::array<std::uint64_t, 32> offsets{};
  double cycles = 0;
};

// Rows of one memory with so many warps in flight, enough to keep it busy.
std::vector<Measured> measured(const char* memory, const std::string& prefix, int warps) {
  std::ifstream file(std::string(TESSERA_SOURCE_DIR) +
                     "/results/calibration/h200_calibration.json");
  const auto rows = nlohmann::json::parse(file).at(memory);
  std::vector<Measured> found;
  for (const auto& row : rows) {
    if (!row.contains("cycles") || !row.contains("offsets")) continue;
    if (row.at("warps") != warps) continue;
    const std::string entry = row.at("entry");
    if (!entry.starts_with(prefix + "load") && !entry.starts_with(prefix + "store")) continue;
    Measured one;
    one.what = entry + ", " + row.at("pattern").get<std::string>();
    one.bytes = row.at("bits").get<std::uint32_t>() / 8;
    one.is_load = entry.starts_with(prefix + "load");
    one.offsets = row.at("offsets").get<std::array<std::uint64_t, 32>>();
    one.cycles = row.at("cycles");
    found.push_back(one);
  }
  return found;
}

TEST(BankCalibration, ThePairModelIsWhatAnH200Does) {
  const std::vector<Measured> rows = measured("shared_memory", "shared_", 8);
  ASSERT_GT(rows.size(), 150u);
  int merged = 0;
  for (const Measured& row : rows) {
    const LaneAccess access{0xffffffff, row.bytes, row.offsets.data()};
    const BankCounts pair = count_banks(BankModel::kPair, access, row.is_load);
    const BankCounts plain = count_banks(BankModel::kPlain, access, row.is_load);
    EXPECT_NEAR(row.cycles, static_cast<double>(pair.wavefronts), kPauses) << row.what;
    merged += pair.wavefronts != plain.wavefronts;
  }
  EXPECT_GT(merged, 15) << "patterns that tell the models apart";
}

// Which four lines a wavefront resolves is not known: one random pattern of 18 lines took 6 cycles
// where the model has 5.
TEST(BankCalibration, LoadsFromL1TakeTheirDataWavefronts) {
  int rows = 0, missed = 0;
  for (const Measured& row : measured("global_memory", "global_", 16)) {
    if (!row.is_load) continue;
    const LaneAccess access{0xffffffff, row.bytes, row.offsets.data()};
    const auto model = static_cast<double>(count_request(access).counts.data_wavefronts);
    ++rows;
    if (std::abs(row.cycles - model) > 0.1 + 0.05 * model) ++missed;
    EXPECT_NEAR(row.cycles, model, 0.1 + 0.05 * model + 1) << row.what;
  }
  EXPECT_GT(rows, 60);
  EXPECT_LE(missed, 1);
}

}  // namespace
}  // namespace tessera::vgpu
