// Whether the CPU or the GPU multiplies operands in host memory. CPUs differ by a factor of ten,
// so the CPU's library is timed once per process and type, for a millisecond. For sizes that
// take equally long on both sides, two runs of a program may choose different sides, and then
// the last bits of D differ.
#pragma once

#include <array>

#include "gemm/options.h"

namespace tessera::gemm::host {

// The predicted microseconds of a call on each side (results/host_operands/).
struct Sides {
  double cpu = 0, gpu = 0;

  bool is_cpu_faster() const { return cpu <= gpu; }
};

// The CPU's microseconds for cubes (m = n = k) of these sizes.
struct CpuRates {
  static constexpr std::array<int, 5> kSizes = {8, 32, 64, 128, 256};
  std::array<double, 5> us = {};
};

// The times for the types and the epilogue of `like`, measured at the first call with these.
CpuRates measured_cpu_rates(const Problem& like);

// The predicted times of a legal problem that both sides may multiply.
Sides predicted_sides(const Problem& problem, const CpuRates& cpu);
Sides predicted_sides(const Problem& problem);

}  // namespace tessera::gemm::host
