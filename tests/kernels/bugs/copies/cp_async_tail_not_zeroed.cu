// Copies past the end of the matrix are left out instead of filling with zeros.
#include "kernels/ptx/cp_async.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];  // the first n elements, then zeros
  const int i = threadIdx.x;
  if (intact) {
    ptx::cp_async<4>(&tile[i], &args.in[i < args.n ? i : 0], i < args.n ? 4 : 0);
  } else if (i < args.n) {
    ptx::cp_async<4>(&tile[i], &args.in[i]);
  }
  ptx::cp_async_commit_group();
  ptx::cp_async_wait_group<0>();
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 128; ++k) sum += tile[k];  // <- here
  args.out[i] = sum;
}

}  // namespace tessera::bugs

extern "C" __global__ void cp_async_tail_not_zeroed__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void cp_async_tail_not_zeroed__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
