// The block that finishes last sums the shares of all. It knows by a counter that they are written,
// but without fences nothing promises that it sees them.
#include "kernels/ptx/flag.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ bool is_last;
  const int i = threadIdx.x, threads = blockDim.x;
  float* shares = args.out + threads;                                    // (block, thread)
  shares[blockIdx.x * threads + i] = args.in[blockIdx.x * threads + i];  // <- here
  __syncthreads();
  if (i == 0) {
    const std::uint32_t before =
        intact ? ptx::add_acquire_release(args.counters, 1) : atomicAdd(args.counters, 1);
    is_last = before == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  float sum = 0;
  for (int b = 0; b < gridDim.x; ++b) sum += shares[b * threads + i];  // <- here
  args.out[i] = sum;
}

}  // namespace tessera::bugs

extern "C" __global__ void split_k_without_fence__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void split_k_without_fence__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
