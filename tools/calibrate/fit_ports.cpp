// Lays the port model beside what calibrate_registers measured, for one warp a sub-core.
//
//   fit_ports results/calibration/h200_registers.json > results/calibration/h200_registers_fit.json
//   tools/tables/update_tables.py
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "sass/model/ports.h"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

// Two 64-bit words in hexadecimal, the higher one first.
sass::Operation decoded(const std::string& word) {
  const sass::Instruction instruction{std::strtoull(word.substr(16).c_str(), nullptr, 16),
                                      std::strtoull(word.substr(0, 16).c_str(), nullptr, 16)};
  return sass::decode(instruction, 0, 90);
}

std::vector<sass::Operation> pattern_of(const Json& row) {
  std::vector<sass::Operation> pattern;
  std::istringstream words(row["pattern"].get<std::string>());
  for (std::string word; words >> word;) pattern.push_back(decoded(word));
  return pattern;
}

// How far a group's rows are off: in how many of them, and by how much at most.
struct Fit {
  int rows = 0, missed = 0;
  double largest = 0;
};

Json fit(const Json& file) {
  Json rows = Json::array();
  std::map<std::string, Fit> fits;
  for (const Json& group : file) {
    if (!group.is_array()) continue;
    for (const Json& row : group) {
      if (!row.contains("pattern") || row.contains("other")) continue;
      const std::vector<sass::Operation> pattern = pattern_of(row);
      const double measured = row["runs"][0]["cycles"];
      const double model = sass::ports_of_loop(pattern, {.stalls_are_filled = false}).cycles;
      const double off = (model - measured) / measured;
      Fit& sum = fits[row["experiment"]];
      ++sum.rows;
      sum.missed += std::abs(off) > 0.01;
      sum.largest = std::max(sum.largest, std::abs(off));
      rows.push_back({{"experiment", row["experiment"]},
                      {"name", row["name"]},
                      {"instructions", pattern.size()},
                      {"measured", measured},
                      {"model", model}});
    }
  }
  Json groups = Json::object();
  for (const auto& [name, sum] : fits) {
    groups[name] = {{"rows", sum.rows}, {"missed", sum.missed}, {"largest", sum.largest}};
  }
  return {{"schema", "tessera.registers_fit/1"}, {"groups", groups}, {"rows", rows}};
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "fit_ports FILE: FILE is what calibrate_registers wrote\n");
    return 1;
  }
  std::ifstream stream(argv[1]);
  if (!stream) {
    fmt::print(stderr, "fit_ports: cannot read {}\n", argv[1]);
    return 1;
  }
  fmt::print("{}\n", tessera::fit(nlohmann::ordered_json::parse(stream)).dump(1));
}
