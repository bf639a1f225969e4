// The steps that add partial sums, after a product whose tiles or whose k were split.
#pragma once

#include <string>

#include "gemm/steps/step.h"
#include "kernels/schedule/stream_k.h"

namespace tessera::gemm {

// The launch that adds the partial sums of a schedule's split tiles.
LaunchShape shape_of_reduce(const schedule::StreamK& schedule, int block_m, int block_n, int sms);

// The matrices of partial sums of a product, `part` elements apart. Rows are `ld` elements apart.
struct PartialMatrices {
  int parts;
  std::int64_t ld, part;
  PlannedAddress at;
};
// The step that adds the partial sums of all parts of k.
Step reduce_parts_step(const std::string& entry, const PartialMatrices& partials,
                       const Product& product, int sms);

}  // namespace tessera::gemm
