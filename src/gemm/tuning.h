// Measured rates of kernels: the tuned numbers of the cost model. Each refers to a config row.
#pragma once

#include <string_view>

#include "arch/gpus.h"

namespace tessera::gemm {

struct Rate {
  std::string_view kernel, variant;
  double tflops;  // whole GPU, large square, burst
};

// On GPUs other than the one that was measured only their order and proportion matter.
inline constexpr Rate kRates[] = {
#include "gemm/tuning/estimates.inc"
#include "gemm/tuning/h200.inc"
};

// TFLOP/s; 0 where nobody measured it.
constexpr double rate_of(std::string_view kernel, std::string_view variant) {
  for (const Rate& rate : kRates) {
    if (rate.kernel == kernel && rate.variant == variant) return rate.tflops;
  }
  return 0;
}

}  // namespace tessera::gemm
