#include "catalog/tensor_core.h"

#include "catalog/persistent.h"
#include "kernels/passes/params.h"
#include "kernels/passes/terms_params.h"
#include "kernels/types/multiplied.h"
#include "kernels/types/stored.h"

namespace tessera::catalog {
namespace {

const char* repack_of(const Types& types) {
  if (const auto* row = types::find_multiplied(types.a)) return row->repack;
  refuse_type("the catalog line of a kernel on tensor cores", types.a);
}

}  // namespace

std::string out_of(const Types& types) {
  if (const auto* row = types::find_stored(types.d)) return row->argument;
  refuse_type("the catalog line of a kernel on tensor cores", types.d);
}

namespace {

// Returns a row with the fields that all kernels on Hopper's tensor cores have in common.
template <class Config>
KernelRow row_of(std::string_view kernel, const char* variant, const Config& config) {
  const Loads loads = {Load::kTma, Load::kTma};
  return {.variant = variant,
          .entry = entry_name(kernel, variant, config.majors, loads),
          .majors = config.majors,
          .block = config.block,
          .threads = config.threads(),
          .loads = loads,
          .a_box = config.a_box(),
          .b_box = config.b_box(),
          .shared_bytes = config.shared_bytes(),
          .ctas_per_sm = config.ctas_per_sm(),
          .image = image_name(kernel, variant),
          .config = &config};
}

}  // namespace

KernelRow wgmma_row(std::string_view kernel, const char* variant, const wgmma::Config& config) {
  KernelRow row = row_of(kernel, variant, config);
  row.reduce_entry = std::string(kernel) + "__reduce";
  row.repack_entry = repack_entry(kernel);
  return row;
}
KernelRow wgmma_row(std::string_view kernel, const char* variant, const promoted::Config& config) {
  return row_of(kernel, variant, config);
}

std::vector<HelperEntry> wgmma_helpers(const std::string& kernel, const KernelRow& row,
                                       const Types& types) {
  const std::string image = image_name(kernel, "passes");
  return {{row.repack_entry, repack_of(types), "tessera::passes::RepackParams",
           passes::kRepackThreads, passes::kPassCtasPerSm, image},
          {row.reduce_entry, "reduce_parts<" + out_of(types) + ">", "tessera::passes::ReduceParts",
           passes::kReduceThreads, passes::kPassCtasPerSm, image}};
}

HelperEntry terms_helper(const std::string& kernel, const std::string& image) {
  return {kernel + "__terms",    "split_terms",           "tessera::passes::SplitParams",
          passes::kSplitThreads, passes::kSplitCtasPerSm, image};
}

}  // namespace tessera::catalog
