// Rung 01: the triple loop with one thread per output. The lanes of a warp have 32 different rows.
//
// Neighbouring lanes read A and write D a whole row apart, so each lane touches a different 32-byte
// sector: 32 sectors per request where 4 would do.
#include "ladder/01_strided/config.h"
#include "ladder/shared/common.h"

namespace tessera::strided {

template <Config cfg>
__device__ void run(const GemmParams& p) {
  const ladder::Strided<float> a = ladder::matrix_a<float>(p);  // (m, k)
  const ladder::Strided<float> b = ladder::matrix_b<float>(p);  // (k, n)
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const long long row = origin.row + threadIdx.x;  // lanes walk down a column
  const long long col = origin.col + threadIdx.y;
  if (row >= p.m || col >= p.n) return;

  float sum = 0;
  for (long long k = 0; k < p.k; ++k) sum += a.at(row, k) * b.at(k, col);
  ladder::store(p, row, col, sum);
}

}  // namespace tessera::strided
