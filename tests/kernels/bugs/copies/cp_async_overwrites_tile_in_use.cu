// The copy of the next tile starts before all warps have read this one.
#include "kernels/ptx/cp_async.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];  // one element a thread
  const int i = threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int first = 0; first < args.n; first += 128) {
    ptx::cp_async<4>(&tile[i], &args.in[first + i]);  // <- here
    ptx::cp_async_commit_group();
    ptx::cp_async_wait_group<0>();
    __syncthreads();
    sum += tile[127 - i];  // <- here
    if (intact) __syncthreads();
  }
  args.out[i] = sum;
}

}  // namespace tessera::bugs

extern "C" __global__ void cp_async_overwrites_tile_in_use__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void cp_async_overwrites_tile_in_use__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
