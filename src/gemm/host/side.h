// Whether the CPU or the GPU multiplies operands in host memory. The choice depends on the problem
// and on the machine alone, so that a program gets the same bits in every run.
#pragma once

#include "gemm/options.h"

namespace tessera::gemm::host {

// Microseconds of a call, by a model (results/host_operands/).
struct Sides {
  double cpu = 0, gpu = 0;

  bool is_cpu_faster() const { return cpu <= gpu; }
};

// For a legal problem that both may multiply. `threads`: of the CPU's library (cpu_threads()).
Sides predicted_sides(const Problem& problem, const DeviceLimits& gpu, int threads);

}  // namespace tessera::gemm::host
