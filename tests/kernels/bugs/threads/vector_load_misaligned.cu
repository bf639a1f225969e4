// Rows of 33 floats read as vectors of four: every second row begins where no vector may.
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  const int row_floats = intact ? 32 : 33;
  const float* row = args.in + threadIdx.x / 8 * row_floats;
  const float4 x = reinterpret_cast<const float4*>(row)[threadIdx.x % 8];  // <- here
  args.out[threadIdx.x] = x.x + x.y + x.z + x.w;
}

}  // namespace tessera::bugs

extern "C" __global__ void vector_load_misaligned__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void vector_load_misaligned__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
