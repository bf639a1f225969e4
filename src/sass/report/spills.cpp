#include "sass/report/spills.h"

#include <algorithm>
#include <string_view>

#include "sass/report/mix.h"

namespace tessera::sass {
namespace {

bool multiplies(std::string_view stem) {
  return stem == "FFMA" || stem == "DFMA" || stem.ends_with("MMA");
}

bool uses_local_memory(std::string_view stem) { return stem == "LDL" || stem == "STL"; }

int count_of(const Histogram& histogram, bool (*is_wanted)(std::string_view stem)) {
  int sum = 0;
  for (const auto& [name, count] : histogram) sum += is_wanted(stem_of(name)) ? count : 0;
  return sum;
}

bool holds_another(const Loop& loop, const std::vector<Loop>& loops) {
  return std::ranges::any_of(loops, [&](const Loop& other) {
    return other.members.size() < loop.members.size() &&
           std::ranges::binary_search(loop.members, other.members.front());
  });
}

}  // namespace

std::vector<std::string> main_loop_spills(const CubinFile& cubin, int known) {
  std::vector<std::string> found;
  for (const CubinKernel& kernel : cubin.kernels) {
    for (const Loop& loop : kernel.loops) {
      const int products = count_of(loop.histogram, multiplies);
      const int spills = count_of(loop.histogram, uses_local_memory);
      if (products == 0 || spills <= known || holds_another(loop, kernel.loops)) continue;
      found.push_back(kernel.name + " spills in its main loop: " + std::to_string(spills) +
                      " loads and stores of local memory and " + std::to_string(products) +
                      " multiplies");
    }
  }
  return found;
}

}  // namespace tessera::sass
