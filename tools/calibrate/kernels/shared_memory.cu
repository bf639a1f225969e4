// Shared memory: what a load or store costs by width and by the lanes' addresses, how long a load
// takes, and what atomics cost.
#include "tools/calibrate/kernels/timed.h"

namespace tessera::calibration {
namespace {

// HW: bank conflicts repeat every 128 bytes, so steps of 256 keep a pattern what it is. Patterns
// reach 4096 bytes far.
constexpr int kStep = 256;
constexpr int kBytes = 4096 + kUnroll * kStep;

__shared__ alignas(16) char memory[kBytes];

__device__ void clear() {
  for (int i = threadIdx.x; i < kBytes / 4; i += blockDim.x) {
    reinterpret_cast<float*>(memory)[i] = 0;
  }
}

template <class T>
__device__ void load(const Params& p) {
  clear();
  unsigned at = p.offsets[threadIdx.x % 32];
  float sums[4] = {};
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        add(sums[u % 4], *reinterpret_cast<const T*>(memory + at + u * kStep));
      }
      at += p.zero;
    }
  });
  keep(p, sums[0] + sums[1] + sums[2] + sums[3]);
}

template <class T>
__device__ void store(const Params& p) {
  clear();
  unsigned at = p.offsets[threadIdx.x % 32];
  const T value = filled<T>(static_cast<float>(p.zero));
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        *reinterpret_cast<T*>(memory + at + u * kStep) = value;
      }
      at += p.zero;
    }
  });
  __syncthreads();
  keep(p, reinterpret_cast<float*>(memory)[threadIdx.x % 32]);
}

// Each load's address comes from the load before it.
template <class T>
__device__ void chase(const Params& p) {
  clear();
  unsigned at = p.offsets[threadIdx.x % 32];
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const T value = *reinterpret_cast<const T*>(memory + at);
        if constexpr (sizeof(T) == 4) {
          at += value;
        } else if constexpr (sizeof(T) == 8) {
          at += value.x + value.y;
        } else {
          at += value.x + value.y + value.z + value.w;
        }
      }
    }
  });
  keep(p, at);
}

}  // namespace

extern "C" __global__ void shared_load_32(const Params p) { load<float>(p); }
extern "C" __global__ void shared_load_64(const Params p) { load<float2>(p); }
extern "C" __global__ void shared_load_128(const Params p) { load<float4>(p); }
extern "C" __global__ void shared_store_32(const Params p) { store<float>(p); }
extern "C" __global__ void shared_store_64(const Params p) { store<float2>(p); }
extern "C" __global__ void shared_store_128(const Params p) { store<float4>(p); }
extern "C" __global__ void shared_chase_32(const Params p) { chase<unsigned>(p); }
extern "C" __global__ void shared_chase_64(const Params p) { chase<uint2>(p); }
extern "C" __global__ void shared_chase_128(const Params p) { chase<uint4>(p); }

extern "C" __global__ void shared_atomic_add(const Params p) {
  clear();
  unsigned at = p.offsets[threadIdx.x % 32];
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        atomicAdd(reinterpret_cast<int*>(memory + at + u * kStep), p.zero);
      }
      at += p.zero;
    }
  });
  __syncthreads();
  keep(p, reinterpret_cast<float*>(memory)[threadIdx.x % 32]);
}

}  // namespace tessera::calibration
