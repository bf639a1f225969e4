#include "catalog/persistent.h"

#include <algorithm>

#include "kernels/families/simt/params.h"

namespace tessera::catalog {

std::string entry_name(std::string_view kernel, std::string_view variant, Sides sides,
                       Fetches fetches) {
  const std::string name = entry_name(kernel, variant, sides);
  const auto word = [](Fetch fetch) { return fetch == Fetch::kTensor ? "_tma" : "_copy"; };
  if (fetches.a == fetches.b) return name + word(fetches.a);
  return name + word(fetches.a) + word(fetches.b);
}

std::string add_entry(std::string_view kernel, BlockTile block) {
  return std::string(kernel) + "__reduce_" + std::to_string(block.m) + "x" +
         std::to_string(block.n);
}

std::string turn_entry(std::string_view kernel) { return std::string(kernel) + "__repack"; }

std::vector<HelperEntry> persistent_helpers(const std::vector<KernelRow>& rows,
                                            const std::string& family) {
  const std::string name_space = "tessera::" + family;
  std::vector<HelperEntry> helpers = {{rows.front().turn_entry, "repack",
                                       "tessera::passes::RepackParams", passes::kRepackThreads,
                                       passes::kPassCtasPerSm}};
  for (const KernelRow& row : rows) {
    const bool there = std::any_of(helpers.begin(), helpers.end(), [&](const HelperEntry& helper) {
      return helper.entry == row.add_entry;
    });
    if (there) continue;
    const std::string tile = std::to_string(row.block.m) + ", " + std::to_string(row.block.n);
    helpers.push_back({row.add_entry, "reduce<" + tile + ">", name_space + "::SimtParams",
                       passes::kReduceThreads, passes::kPassCtasPerSm});
  }
  return helpers;
}

}  // namespace tessera::catalog
