// The steps after a product whose tiles or whose k were split: they add partial sums.
#pragma once

#include <string>

#include "gemm/steps/step.h"
#include "kernels/schedule/stream_k.h"

namespace tessera::gemm {

// The launch that adds the partial sums of a schedule's split tiles.
LaunchShape shape_of_reduce(const schedule::StreamK& schedule, int block_m, int block_n, int sms);

// Matrices of partial sums of a product, `part` elements apart, with rows of `ld`.
struct PartialMatrices {
  int parts;
  std::int64_t ld, part;
  PlannedAddress at;
};
// Adds the parts of k of a whole product.
Step reduce_parts_step(const std::string& entry, const PartialMatrices& partials,
                       const Product& product, int sms);

}  // namespace tessera::gemm
