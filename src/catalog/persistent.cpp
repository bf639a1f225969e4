#include "catalog/persistent.h"

#include <algorithm>

#include "kernels/families/simt/params.h"

namespace tessera::catalog {

std::string entry_name(std::string_view kernel, std::string_view variant, Majors majors,
                       Loads loads) {
  const std::string name = entry_name(kernel, variant, majors);
  const auto word = [](Load fetch) { return fetch == Load::kTma ? "_tma" : "_copy"; };
  if (loads.a == loads.b) return name + word(loads.a);
  return name + word(loads.a) + word(loads.b);
}

std::string reduce_entry(std::string_view kernel, BlockTile block) {
  return std::string(kernel) + "__reduce_" + std::to_string(block.m) + "x" +
         std::to_string(block.n);
}

std::string repack_entry(std::string_view kernel) { return std::string(kernel) + "__repack"; }

std::vector<HelperEntry> reduce_helpers(const std::vector<KernelRow>& rows,
                                        const std::string& params, const CallOfTile& call) {
  std::vector<HelperEntry> helpers;
  for (const KernelRow& row : rows) {
    const bool there = std::any_of(helpers.begin(), helpers.end(), [&](const HelperEntry& helper) {
      return helper.entry == row.reduce_entry;
    });
    if (there) continue;
    const std::string tile = std::to_string(row.block.m) + "," + std::to_string(row.block.n);
    helpers.push_back({row.reduce_entry, call(tile), params, passes::kReduceThreads,
                       passes::kPassCtasPerSm, row.image});
  }
  return helpers;
}

std::vector<HelperEntry> persistent_helpers(const std::vector<KernelRow>& rows,
                                            const std::string& params) {
  std::vector<HelperEntry> helpers = reduce_helpers(rows, params);
  helpers.insert(helpers.begin(),
                 {rows.front().repack_entry, "repack", "tessera::passes::RepackParams",
                  passes::kRepackThreads, passes::kPassCtasPerSm, rows.front().repack_entry});
  return helpers;
}

}  // namespace tessera::catalog
