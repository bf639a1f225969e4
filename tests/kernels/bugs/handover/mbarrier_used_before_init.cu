// One thread initialises the barrier, and the others arrive at it without waiting for that.
#include "kernels/ptx/mbarrier.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ ptx::Mbarrier tile_written;
  __shared__ float tile[128];  // one element a thread
  const int i = threadIdx.x;
  if (i == 96) ptx::mbarrier_init(tile_written, 128);  // <- here
  if (intact) __syncthreads();
  tile[i] = args.in[i];
  ptx::mbarrier_arrive(tile_written);  // <- here
  ptx::mbarrier_wait_parity(tile_written, 0);
  args.out[i] = tile[127 - i];
}

}  // namespace tessera::bugs

extern "C" __global__ void mbarrier_used_before_init__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void mbarrier_used_before_init__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
