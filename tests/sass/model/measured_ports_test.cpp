// The port model against results/calibration/h200_registers.json: what tools/calibrate/registers
// measured on an H200 with one warp a sub-core, code included.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "sass/model/ports.h"

namespace tessera::sass {
namespace {

using Json = nlohmann::json;

Json measured_file() {
  std::ifstream stream("results/calibration/h200_registers.json");
  return Json::parse(stream);
}

// Two 64-bit words of each instruction in hexadecimal, the higher one first.
std::vector<Operation> pattern_of(const Json& row) {
  std::vector<Operation> pattern;
  std::istringstream words(row["pattern"].get<std::string>());
  for (std::string word; words >> word;) {
    const Instruction instruction{std::strtoull(word.substr(16).c_str(), nullptr, 16),
                                  std::strtoull(word.substr(0, 16).c_str(), nullptr, 16)};
    pattern.push_back(decode(instruction, 0, 90));
  }
  return pattern;
}

struct Fit {
  int rows = 0, exact = 0, above = 0;
};

// Rows of these groups by experiment: patterns of FFMAs that read nothing they have just written.
std::map<std::string, Fit> fits() {
  const Json file = measured_file();
  std::map<std::string, Fit> all;
  for (const char* group : {"banks", "reuse", "blocks", "shapes"}) {
    for (const Json& row : file[group]) {
      const std::string experiment = row["experiment"];
      const std::string name = row["name"];
      if (name.find("LDS") != std::string::npos) continue;
      const double measured = row["runs"][0]["cycles"];
      const double model = ports_of_loop(pattern_of(row), {.stalls_are_filled = false}).cycles;
      Fit& fit = all[experiment];
      ++fit.rows;
      fit.exact += std::abs(model - measured) < 0.01 * measured;
      fit.above += model > 1.01 * measured;
    }
  }
  return all;
}

TEST(MeasuredPorts, TheModelIsNeverAboveTheMeasurement) {
  for (const auto& [experiment, fit] : fits()) EXPECT_EQ(fit.above, 0) << experiment;
}

TEST(MeasuredPorts, TheModelIsExactForMostPatterns) {
  const std::map<std::string, Fit> all = fits();
  const auto share = [&](const char* experiment) {
    const Fit& fit = all.at(experiment);
    return static_cast<double>(fit.exact) / fit.rows;
  };
  for (const char* experiment : {"E1", "roles", "results"}) EXPECT_EQ(share(experiment), 1);
  EXPECT_GE(all.at("shapes").rows, 700);
  EXPECT_GT(share("banks"), 0.98);
  EXPECT_GT(share("shapes"), 0.97);
  EXPECT_GT(share("flags"), 0.85);
  EXPECT_GT(share("E3"), 0.97);
  EXPECT_GT(share("E4"), 0.7) << "blocks; orders by rows lose more on silicon";
}

// A test that can fail: other rules miss what silicon does.
TEST(MeasuredPorts, OtherRulesMiss) {
  const auto missed = [](PortRules rules) {
    rules.stalls_are_filled = false;
    const Json file = measured_file();
    int count = 0;
    for (const Json& row : file["banks"]) {
      const double measured = row["runs"][0]["cycles"];
      const double model = ports_of_loop(pattern_of(row), rules).cycles;
      count += std::abs(model - measured) > 0.01 * measured;
    }
    return count;
  };
  EXPECT_LE(missed({}), 1);
  EXPECT_GT(missed({.banks = 4}), 20);
  EXPECT_GT(missed({.reads_per_cycle = 2}), 50);
  EXPECT_GT(missed({.reuse = false}), 10);
}

}  // namespace
}  // namespace tessera::sass
