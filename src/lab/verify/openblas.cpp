#include "gemm/host/openblas.h"

#include <algorithm>
#include <limits>

#include "lab/verify/products.h"

namespace tessera::lab {

bool multiply_by(const gemm::host::OpenBlas& blas, const Extents& size, const double* a,
                 const double* b, double* c) {
  if (std::max({size.m, size.n, size.k}) > std::numeric_limits<int>::max()) return false;
  const int m = static_cast<int>(size.m), n = static_cast<int>(size.n),
            k = static_cast<int>(size.k);
  blas.multiply({Order::kRowMajor, Op::kNone, Op::kNone, m, n, k, 1.0, a, std::max(k, 1), b,
                 std::max(n, 1), 0.0, c, std::max(n, 1)});
  return true;
}

}  // namespace tessera::lab
