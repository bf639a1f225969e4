// Two kinds of access in one CTA at a time: some warps do one thing, the others another. A profiler
// shows on them which accesses make it count the wavefronts of others again.
#include "tools/calibrate/kernels/collisions.h"

#include "tools/calibrate/kernels/timed.h"

namespace tessera::calibration {
namespace {

constexpr int kStep = 256;     // of shared memory, between the accesses of one iteration
constexpr int kRegion = 4096;  // of global memory, likewise

__shared__ alignas(16) char memory[512 + kUnroll * kStep];

// `one(u)` is the access number u of an iteration.
template <class One>
__device__ void repeat(const Params& p, One one) {
  for (int i = 0; i < p.iterations; ++i) {
    const int moved = i * p.zero;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) one(u, moved);
  }
}

template <class T>
__device__ void store_shared(const Params& p) {
  char* at = memory + threadIdx.x % 32 * sizeof(T);
  const T value = filled<T>(static_cast<float>(p.zero));
  repeat(p, [&](int u, int moved) { *reinterpret_cast<T*>(at + u * kStep + moved) = value; });
}

// Each value is read by `sharers` neighbouring lanes.
template <class T, int sharers>
__device__ void load_shared(const Params& p) {
  const char* at = memory + threadIdx.x % 32 / sharers * sizeof(T);
  float sums[4] = {};
  repeat(p, [&](int u, int moved) {
    add(sums[u % 4], *reinterpret_cast<const T*>(at + u * kStep + moved));
  });
  keep(p, sums[0] + sums[1] + sums[2] + sums[3]);
}

__device__ char* global_place(const Params& p) {
  return p.data + (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * p.warp_stride;
}

template <class T, bool past_l1>
__device__ void load_global(const Params& p) {
  const char* at = global_place(p) + threadIdx.x % 32 * sizeof(T);
  float sums[4] = {};
  repeat(p, [&](int u, int moved) {
    const T* from = reinterpret_cast<const T*>(at + u % 4 * kRegion + moved + u / 4 * 512);
    add(sums[u % 4], past_l1 ? __ldcg(from) : *from);
  });
  keep(p, sums[0] + sums[1] + sums[2] + sums[3]);
}

template <class T, bool slowly>
__device__ void store_global(const Params& p) {
  char* at = global_place(p) + p.offsets[threadIdx.x % 32];
  const T value = filled<T>(static_cast<float>(p.zero));
  repeat(p, [&](int u, int moved) {
    // WHY `u * moved`: stores to one address in a row would become one.
    *reinterpret_cast<T*>(at + u % 4 * kRegion + u * moved) = value;
    if (slowly) __nanosleep(1000);
  });
}

// A tile's way into shared memory, past L1: each store waits for its loads.
template <class T>
__device__ void copy_in(const Params& p) {
  const char* from = global_place(p) + threadIdx.x % 32 * sizeof(T);
  char* to = memory + threadIdx.x % 32 * sizeof(T);
  for (int i = 0; i < p.iterations; ++i) {
    T values[4];
#pragma unroll
    for (int u = 0; u < kUnroll; u += 4) {
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        values[v] = __ldcg(reinterpret_cast<const T*>(from + v * kRegion + u * 128));
      }
#pragma unroll
      for (int v = 0; v < 4; ++v) *reinterpret_cast<T*>(to + (u + v) * kStep) = values[v];
    }
    from += p.zero;
  }
}

}  // namespace

extern "C" __global__ void collide(const Params p) {
  __syncthreads();
  switch ((threadIdx.x / 32 & p.mask) == 0 ? p.first : p.second) {
    case kStoreShared32:
      return store_shared<float>(p);
    case kStoreShared128:
      return store_shared<float4>(p);
    case kLoadShared32:
      return load_shared<float, 1>(p);
    case kLoadShared64Pairs:
      return load_shared<float2, 2>(p);
    case kLoadShared128:
      return load_shared<float4, 1>(p);
    case kLoadL1By32:
      return load_global<float, false>(p);
    case kLoadL1By128:
      return load_global<float4, false>(p);
    case kLoadL2By32:
      return load_global<float, true>(p);
    case kLoadL2By128:
      return load_global<float4, true>(p);
    case kStoreGlobal32:
      return store_global<float, false>(p);
    case kStoreGlobal128:
      return store_global<float4, false>(p);
    case kStoreGlobal32Slowly:
      return store_global<float, true>(p);
    case kCopyIn32:
      return copy_in<float>(p);
    case kCopyIn128:
      return copy_in<float4>(p);
    default:
      return;
  }
}

}  // namespace tessera::calibration
