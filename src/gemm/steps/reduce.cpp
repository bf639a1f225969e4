#include "gemm/steps/reduce.h"

#include <algorithm>
#include <cstddef>

#include "base/divide.h"
#include "kernels/passes/params.h"

namespace tessera::gemm {
namespace {

using passes::ReduceParts;

LaunchShape shape_of(std::int64_t blocks, int sms) {
  const std::int64_t most = std::int64_t{passes::kPassCtasPerSm} * sms;
  return {.grid = std::min(blocks, most), .block = passes::kReduceThreads};
}

}  // namespace

LaunchShape shape_of_reduce(const schedule::StreamK& schedule, int block_m, int block_n, int sms) {
  return shape_of(
      std::int64_t{schedule.split_tiles()} * passes::reduce_pieces(schedule, block_m, block_n),
      sms);
}

Step reduce_parts_step(const std::string& entry, const PartialMatrices& partials,
                       const Product& product, int sms) {
  ReduceParts params{};
  params.gemm = product.params;
  params.ld = partials.ld;
  params.part = partials.part;
  params.parts = partials.parts;
  params.slices = passes::slices_of_parts(params.parts);
  const std::int64_t vectors = passes::kReduceThreads / params.slices;
  const std::int64_t blocks = ceil_div(product.params.m * ceil_div(product.params.n, 4), vectors);
  Step step = step_of(Pass::kReduce, entry, shape_of(blocks, sms), params);
  patch_product(step, offsetof(ReduceParts, gemm), product);
  step.addresses.push_back({offsetof(ReduceParts, partials), partials.at});
  return step;
}

}  // namespace tessera::gemm
