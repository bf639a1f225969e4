#include "cli/sass_call/sass_optimise.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/status.h"
#include "cli/sass_call/sass_input.h"
#include "sass/rewrite/patch.h"

namespace tessera::cli {
namespace {

lab::Json json_of(const sass::KernelPatch& patch) {
  lab::Json object = {{"kernel", patch.name},        {"left_alone", patch.left_alone},
                      {"moved", patch.moved},        {"regions", patch.regions},
                      {"live_ranges", patch.ranges}, {"renamed", patch.renamed},
                      {"loops", lab::Json::array()}};
  for (const sass::LoopChange& loop : patch.loops) {
    object["loops"].push_back({{"begin", loop.begin},
                               {"end", loop.end},
                               {"tag", "model"},
                               {"cycles_before", loop.before.cycles},
                               {"cycles", loop.after.cycles},
                               {"bubbles_before", loop.before.bubbles},
                               {"bubbles", loop.after.bubbles},
                               {"crowded_ffmas_before", loop.before.crowded},
                               {"crowded_ffmas", loop.after.crowded}});
  }
  return object;
}

void add_rows(const sass::KernelPatch& patch, Table& table) {
  for (const sass::LoopChange& loop : patch.loops) {
    table.rows.push_back(
        {patch.name, fmt::format("{:#x}-{:#x}", loop.begin, loop.end),
         std::to_string(loop.instructions), fmt::format("{:.1f}", loop.before.cycles),
         fmt::format("{:.1f}", loop.after.cycles), fmt::format("{:.1f}", loop.before.bubbles),
         fmt::format("{:.1f}", loop.after.bubbles), fmt::format("{:.1f}", loop.before.crowded),
         fmt::format("{:.1f}", loop.after.crowded)});
  }
}

void write_cubin(const std::string& path, const std::vector<std::byte>& cubin) {
  const std::string_view text(reinterpret_cast<const char*>(cubin.data()), cubin.size());
  lab::write_file(path, text, "--out");
}

}  // namespace

Optimised optimise_cubin(const std::string& target, const std::string& kernel, const arch::Gpu& gpu,
                         const std::string& out, const Changes& changes) {
  const std::vector<std::byte> cubin =
      cubin_bytes(target, kernel, changes.sm, gpu, CubinKind::kUnpatched);
  sass::PatchResult result;
  try {
    sass::PatchOptions options;
    options.kernel = kernel;
    options.remaps = changes.remaps;
    options.reorders = changes.reorders;
    result = sass::optimise(cubin, options);
  } catch (const std::runtime_error& error) {
    throw StatusError(Status::failed(fmt::format("'{}': {}", target, error.what())));
  }
  Optimised optimised;
  optimised.loops.header = {"kernel",         "loop",  "instructions",   "cycles before", "after",
                            "bubbles before", "after", "crowded before", "after"};
  optimised.json["kernels"] = lab::Json::array();
  for (const sass::KernelPatch& patch : result.kernels) {
    optimised.json["kernels"].push_back(json_of(patch));
    add_rows(patch, optimised.loops);
  }
  optimised.text = sass::proof_text(result);
  write_cubin(out, result.cubin);
  return optimised;
}

}  // namespace tessera::cli
