// Threads wait relaxed for a tile: what they read is ordered after nothing. A fence behind the wait
// puts it in order.
#include "kernels/ptx/mbarrier.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];  // one element a thread
  __shared__ ptx::Mbarrier full;
  const int i = threadIdx.x;
  if (i == 0) ptx::mbarrier_init(full, 128);
  __syncthreads();
  tile[i] = args.in[i];  // <- here
  ptx::mbarrier_arrive(full);
  while (!cuda::ptx::mbarrier_try_wait_parity(cuda::ptx::sem_relaxed, cuda::ptx::scope_cta, &full,
                                              0)) {
  }
  if (intact) __threadfence_block();
  args.out[i] = tile[127 - i];  // <- here
}

}  // namespace tessera::bugs

extern "C" __global__ void relaxed_wait__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void relaxed_wait__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
