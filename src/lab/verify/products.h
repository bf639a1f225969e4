// Computes dense products on the host, from which references are made. All matrices are row-major
// without gaps: a is m x k, b is k x n, results are m x n. Each sum runs over k in order, so
// results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gemm/host/openblas.h"

namespace tessera::lab {

struct Extents {
  std::int64_t m = 0, n = 0, k = 0;
};

// Computes c = a b in FP64 with fused multiply-adds.
void multiply_blocked(const Extents& size, const double* a, const double* b, double* c);

// Computes high + low = a b as if summed with twice the digits (two-products and two-sums; Ogita,
// Rump and Oishi's Dot2). low may be NaN if high is infinite or NaN.
void multiply_double_double(const Extents& size, const double* a, const double* b, double* high,
                            double* low);

using OpenBlas = gemm::host::OpenBlas;

// Computes c = a b. Returns false if a size does not fit the library's 32-bit integers.
bool multiply_by(const OpenBlas& blas, const Extents& size, const double* a, const double* b,
                 double* c);

}  // namespace tessera::lab
