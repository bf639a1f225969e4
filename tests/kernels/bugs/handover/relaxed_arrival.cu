// Threads hand a tile on through a barrier object, but arrive relaxed: their stores are ordered
// before nothing. A fence before the arrival puts them in order.
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
  if (intact) __threadfence_block();
  cuda::ptx::mbarrier_arrive(cuda::ptx::sem_relaxed, cuda::ptx::scope_cta, cuda::ptx::space_shared,
                             &full, 1);
  ptx::mbarrier_wait_parity(full, 0);
  args.out[i] = tile[127 - i];  // <- here
}

}  // namespace tessera::bugs

extern "C" __global__ void relaxed_arrival__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void relaxed_arrival__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
