// Whether the CPU or the GPU multiplies operands in host memory. CPUs differ by a factor of ten, so
// the CPU's library is timed once per process and type, for a millisecond. Near the size at which
// the sides change, two runs of a program may take different sides, and then the last bits of D
// differ.
#pragma once

#include <array>

#include "gemm/options.h"

namespace tessera::gemm::host {

// Modelled microseconds of a call (results/host_operands/).
struct Sides {
  double cpu = 0, gpu = 0;

  bool is_cpu_faster() const { return cpu <= gpu; }
};

// The CPU's times for cubes of these sizes.
struct CpuRates {
  static constexpr std::array<int, 5> kSizes = {8, 32, 64, 128, 256};
  std::array<double, 5> us = {};
};

// Timed at the first call for a problem of these types, with or without an epilogue.
CpuRates measured_cpu_rates(const Problem& like);

// For a legal problem that both may multiply.
Sides predicted_sides(const Problem& problem, const CpuRates& cpu);
Sides predicted_sides(const Problem& problem);

}  // namespace tessera::gemm::host
