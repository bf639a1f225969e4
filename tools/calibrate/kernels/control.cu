// What surrounds the arithmetic: barriers, the launch itself and the start of CTAs.
#include "tools/calibrate/kernels/timed.h"

namespace tessera::calibration {

extern "C" __global__ void barrier(const Params p) {
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) __syncthreads();
    }
  });
}

extern "C" __global__ void nothing(const Params) {}

// A CTA that writes one word a warp: what starting and ending a CTA costs at least.
extern "C" __global__ void one_store(const Params p) {
  if (threadIdx.x % 32 == 0) p.sink[threadIdx.x / 32] = p.zero;
}

// One FFMA chain, as a clock that counts SM cycles against the device's own time.
extern "C" __global__ void spin(const Params p) {
  float x = static_cast<float>(p.iterations);
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) x = x * x + 0.5F;
    }
  });
  keep(p, x);
}

}  // namespace tessera::calibration
