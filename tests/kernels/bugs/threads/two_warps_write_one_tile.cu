// A tensor-core kernel for one warp is launched with two: both add to the same 8x8 tile in place,
// and one of them reads what the other has written.
#include <mma.h>

#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  using namespace nvcuda;
  const int warp = threadIdx.x / 32;
  if (intact && warp > 0) return;
  const double* a = reinterpret_cast<const double*>(args.in);  // 8 x 4
  double* d = reinterpret_cast<double*>(args.out);             // 8 x 8
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
  wmma::load_matrix_sync(fa, a, 4);
  wmma::load_matrix_sync(fb, a, 4);
  wmma::load_matrix_sync(sum, d, 8, wmma::mem_row_major);  // <- here
  wmma::mma_sync(sum, fa, fb, sum);
  wmma::store_matrix_sync(d, sum, 8, wmma::mem_row_major);  // <- here
}

}  // namespace tessera::bugs

extern "C" __global__ void two_warps_write_one_tile__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void two_warps_write_one_tile__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
