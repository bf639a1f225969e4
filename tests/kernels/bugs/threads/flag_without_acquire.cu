// A block waits for the flag of another and reads what that one wrote before it. A plain look at
// the flag promises nothing about the rest.
#include "kernels/ptx/flag.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  const int i = threadIdx.x, threads = blockDim.x;
  float* shares = args.out + threads;                                    // (block, thread)
  shares[blockIdx.x * threads + i] = args.in[blockIdx.x * threads + i];  // <- here
  __syncthreads();
  if (blockIdx.x == 0) {
    if (i == 0) ptx::store_release(args.counters, 1);
    return;
  }
  const volatile std::uint32_t* flag = args.counters;
  while ((intact ? ptx::load_acquire(args.counters) : *flag) == 0) {
  }
  args.out[i] = shares[i] + shares[threads + i];  // <- here
}

}  // namespace tessera::bugs

extern "C" __global__ void flag_without_acquire__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void flag_without_acquire__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
