#include "lab/tune/tunable_table.h"

#include <fmt/format.h>

#include <fstream>
#include <regex>

#include "base/numbers.h"
#include "base/status.h"

namespace tessera::lab {

TunableTable::TunableTable(const gemm::CostTable& from)
    : rates_(from.rates.begin(), from.rates.end()), table_{from.gpu, from.coefficients, rates_} {
#define COEFFICIENT(member, value) add(#member, table_.coefficients.member);
#define RATE(kernel, variant, tflops)
#include "gemm/cost/tuning/h200.inc"
#undef COEFFICIENT
#undef RATE
  for (gemm::Rate& rate : rates_) add(fmt::format("{}/{}", rate.kernel, rate.variant), rate.tflops);
}

void TunableTable::add(const std::string& name, double& place) {
  names_.push_back(name);
  places_[name] = &place;
}

void TunableTable::set(const std::string& name, double value) {
  const auto found = places_.find(name);
  if (found == places_.end()) {
    throw StatusError(Status::bad_argument(
        fmt::format("a number of the table is '{}', but must be a coefficient or a rate", name)));
  }
  *found->second = value;
}

void TunableTable::read(const std::string& path, const std::string& option) {
  static const std::regex kLine(R"x((?:COEFFICIENT\(([a-z0-9_.]+)|RATE\("(.+)", "(.+)"), (.+)\))x");
  std::ifstream file(path);
  std::string line;
  bool has_any = false;
  while (std::getline(file, line)) {
    std::smatch parts;
    if (!std::regex_match(line, parts, kLine)) continue;
    const std::string value = parts[4];
    set(parts[1].matched ? parts[1].str() : parts[2].str() + "/" + parts[3].str(),
        value == "kNoLimit" ? 1e30 : parse_real(option, value));
    has_any = true;
  }
  if (has_any) return;
  throw StatusError(Status::bad_argument(
      fmt::format("{} is '{}', but must be a GPU with a table of costs (h200), or a file of one",
                  option, path)));
}

}  // namespace tessera::lab
