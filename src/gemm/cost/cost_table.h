// The known costs of one GPU: coefficients of the model, and rates of the config rows. Each
// measured GPU has one data file.
#pragma once

#include <span>
#include <string_view>

#include "arch/gpus.h"
#include "gemm/cost/coefficients.h"

namespace tessera::gemm {

// The measured rate of one variant of a kernel.
struct Rate {
  std::string_view kernel, variant;
  double tflops;  // of the whole GPU after a rest, for long products
};

struct CostTable {
  const arch::Gpu* gpu;
  Coefficients coefficients;
  std::span<const Rate> rates;  // ordered by kernel, then by variant

  std::span<const Rate> rates_of(std::string_view kernel) const;
};

// The rate of a variant, in TFLOP/s; 0 if the variant was not measured. `rates`: those of a kernel.
double rate_of(std::span<const Rate> rates, std::string_view variant);

extern const CostTable kH200Costs, kH100Costs;

// The table for a GPU, by the name that its driver reports. A GPU without a table gets the H200's:
// for the choice of a kernel only the proportions of costs matter.
const CostTable& costs_for(std::string_view device_name);
// Whether a GPU of this name has a table of its own.
bool has_costs(std::string_view device_name);

}  // namespace tessera::gemm
