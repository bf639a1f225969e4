// Rung 20: the first rung in FP64, and the baseline for packing: rung 21 without packed copies. A
// thread computes one output and reads A and B through their strides. Limit: lanes with different
// rows read different lines of A and, if B is contiguous along k, lanes with different columns read
// different lines of B.
#include "ladder/20_unpacked/config.h"
#include "ladder/shared/common.h"
#include "launch/add_params.h"

namespace tessera::unpacked {

template <Config cfg>
__device__ void run(const GemmParams& p) {
  const ladder::Strided<double> a = ladder::matrix_a<double>(p);  // (m, k)
  const ladder::Strided<double> b = ladder::matrix_b<double>(p);  // (k, n)
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const long long row = origin.row + threadIdx.x / cfg.block.n;
  const long long col = origin.col + threadIdx.x % cfg.block.n;
  if (row >= p.m || col >= p.n) return;

  double sum = 0;
  for (long long k = 0; k < p.k; ++k) sum += a.at(row, k) * b.at(k, col);
  ladder::store(p, row, col, sum);
}

// x += b, element by element: the addition that `tessera bench --chain R --add-before` runs before
// each product.
__device__ inline void add(const AddParams& p) {
  const double* b = static_cast<const double*>(p.b);
  double* x = static_cast<double*>(p.x);
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long e = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; e < p.count;
       e += step) {
    x[e] += b[e];
  }
}

}  // namespace tessera::unpacked
