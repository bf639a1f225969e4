// Rung 02: the lanes of a warp walk along a row of D.
//
// Rung 01 was limited by global memory: each lane read a different line. Now the lanes read
// neighbouring elements of B (4 sectors per request), the same element of A (1 sector), and write
// neighbouring elements of D.
#include "ladder/02_coalesced/config.h"
#include "ladder/shared/common.h"

namespace tessera::coalesced {

template <Config cfg>
__device__ void run(const GemmParams& p) {
  const ladder::Strided<float> a = ladder::matrix_a<float>(p);  // (m, k)
  const ladder::Strided<float> b = ladder::matrix_b<float>(p);  // (k, n)
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const long long row = origin.row + threadIdx.y;
  const long long col = origin.col + threadIdx.x;  // lanes walk along a row
  if (row >= p.m || col >= p.n) return;

  float sum = 0;
  for (long long k = 0; k < p.k; ++k) sum += a.at(row, k) * b.at(k, col);
  ladder::store(p, row, col, sum);
}

}  // namespace tessera::coalesced
