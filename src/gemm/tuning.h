// Measured rates of kernels, for the cost model. Each belongs to one variant.
#pragma once

#include <string_view>

#include "arch/gpus.h"

namespace tessera::gemm {

struct Rate {
  std::string_view kernel, variant;
  double tflops;  // whole GPU, large square, burst
};

// On other GPUs than the measured one only their proportions matter.
inline constexpr Rate kRates[] = {
#include "gemm/tuning/estimates.inc"
#include "gemm/tuning/h200.inc"
};

// TFLOP/s; 0 for a variant that was not measured.
constexpr double rate_of(std::string_view kernel, std::string_view variant) {
  for (const Rate& rate : kRates) {
    if (rate.kernel == kernel && rate.variant == variant) return rate.tflops;
  }
  return 0;
}

}  // namespace tessera::gemm
