#include "check/propose/levels/halvings.h"

#include <algorithm>

namespace tessera::checking {
namespace {

constexpr std::int64_t kSmallest = 16;
constexpr std::size_t kMostHalvings = 48;

}  // namespace

std::int64_t smallest_of(std::int64_t value) { return std::min(value, kSmallest); }

std::vector<Values> halvings_of(const Values& values) {
  std::vector<Values> levels = {values};
  while (levels.size() <= kMostHalvings) {
    Values next = levels.back();
    std::int64_t largest = 0;
    for (const auto& [name, value] : next) largest = std::max(largest, value);
    if (largest <= kSmallest) break;
    for (auto& [name, value] : next) {
      if (value == largest) value = std::max(value / 2, kSmallest);
    }
    levels.push_back(std::move(next));
  }
  return levels;
}

}  // namespace tessera::checking
