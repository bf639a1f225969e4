// The copies of the next tile start before all lanes have read this one.
#include "kernels/ptx/cp_async.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[32];  // one element a thread
  const int i = threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int first = 0; first < args.n; first += 32) {
    ptx::cp_async<4>(&tile[i], &args.in[first + i]);  // <- here
    ptx::cp_async_commit_group();
    ptx::cp_async_wait_group<0>();
    __syncwarp();
    sum += tile[31 - i];  // <- here
    if (intact) __syncwarp();
  }
  args.out[i] = sum;
}

}  // namespace tessera::bugs

extern "C" __global__ void cp_async_overwrites_unmet_lane__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void cp_async_overwrites_unmet_lane__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
