// The frame of every calibration kernel: all warps of a CTA start together, and each notes the SM
// clock before and after its loop. The host subtracts a short run from a long one, so that what
// surrounds the loop costs nothing.
#pragma once

#include "tools/calibrate/kernels/params.h"

namespace tessera::calibration {

inline constexpr int kUnroll = 16;  // measured operations in one iteration

template <class Loop>
__device__ void timed(const Params& p, Loop loop) {
  __syncthreads();
  const long long begin = clock64();
  loop();
  __syncwarp();
  const long long end = clock64();
  if (threadIdx.x % 32 != 0) return;
  const long long warp = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  p.clocks[2 * warp] = begin;
  p.clocks[2 * warp + 1] = end;
}

// Uses a result in a way that never happens.
template <class T>
__device__ void keep(const Params& p, T value) {
  if (value == static_cast<T>(0x5eed)) p.sink[threadIdx.x] = 1;
}

__device__ inline void add(float& sum, float v) { sum += v; }
__device__ inline void add(float& sum, float2 v) {
  sum += v.x;
  sum += v.y;
}
__device__ inline void add(float& sum, float4 v) {
  sum += v.x;
  sum += v.y;
  sum += v.z;
  sum += v.w;
}

template <class T>
__device__ T filled(float v) {
  if constexpr (sizeof(T) == 4) {
    return v;
  } else if constexpr (sizeof(T) == 8) {
    return {v, v};
  } else {
    return {v, v, v, v};
  }
}

}  // namespace tessera::calibration
