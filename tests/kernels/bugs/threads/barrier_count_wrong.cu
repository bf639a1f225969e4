// Four warps meet at a named barrier that was told to wait for three: the first three pass, the
// last one waits for ever.
#include "kernels/ptx/named_barrier.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];  // one element a thread
  const int i = threadIdx.x;
  tile[i] = args.in[i];
  ptx::barrier_sync(1, intact ? 128 : 96);  // <- here
  args.out[i] = tile[127 - i];
}

}  // namespace tessera::bugs

extern "C" __global__ void barrier_count_wrong__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void barrier_count_wrong__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
