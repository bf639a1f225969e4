// The sum starts from whatever the register held.
#include "kernels/ptx/mma.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  const double* in = reinterpret_cast<const double*>(args.in);
  double* out = reinterpret_cast<double*>(args.out);
  double sum[2];
  if (intact) sum[0] = sum[1] = 0;
  const double a = in[threadIdx.x];  // 8 x 4
  ptx::mma_m8n8k4(sum, a, a);        // <- here
  out[2 * threadIdx.x] = sum[0];
  out[2 * threadIdx.x + 1] = sum[1];
}

}  // namespace tessera::bugs

extern "C" __global__ void accumulator_not_cleared__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void accumulator_not_cleared__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
