// The tile is one element too short, and behind it lies a barrier that is in use.
#include "kernels/ptx/mbarrier.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
struct Shared {
  float tile[intact ? 128 : 126];  // one element a thread
  ptx::Mbarrier tile_written;
  float more[2];
};

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ Shared<intact> shared;
  float* tile = shared.tile;
  const int i = threadIdx.x;
  if (i == 0) ptx::mbarrier_init(shared.tile_written, 128);  // <- here
  __syncthreads();
  tile[i] = args.in[i];  // <- here
  ptx::mbarrier_arrive(shared.tile_written);
  ptx::mbarrier_wait_parity(shared.tile_written, 0);
  args.out[i] = tile[127 - i];
}

}  // namespace tessera::bugs

extern "C" __global__ void mbarrier_overwritten__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void mbarrier_overwritten__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
