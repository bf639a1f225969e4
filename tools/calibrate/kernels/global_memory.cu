// Global memory: what a request costs by width and by the lines that its lanes touch, in L1 and
// past it; latencies; how fast L2 and device memory stream.
#include "tools/calibrate/kernels/timed.h"

namespace tessera::calibration {
namespace {

constexpr int kLoads = 4;      // a warp's requests in one iteration, each a region of its own
constexpr int kRegion = 4096;  // 32 lines

__device__ char* place(const Params& p) {
  return p.data + blockIdx.x * p.cta_stride + threadIdx.x / 32 * p.warp_stride +
         p.offsets[threadIdx.x % 32];
}

template <class T, bool past_l1>
__device__ void load(const Params& p) {
  const char* at = place(p);
  float sums[kLoads] = {};
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kLoads; ++u) {
        const T* from = reinterpret_cast<const T*>(at + u * kRegion);
        add(sums[u], past_l1 ? __ldcg(from) : *from);
      }
      at += p.zero;
    }
  });
  keep(p, sums[0] + sums[1] + sums[2] + sums[3]);
}

template <class T>
__device__ void store(const Params& p) {
  char* at = place(p);
  const T value = filled<T>(static_cast<float>(p.zero));
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kLoads; ++u) *reinterpret_cast<T*>(at + u * kRegion) = value;
      at += p.zero;
    }
  });
}

// One thread follows a list of byte offsets.
template <bool past_l1>
__device__ void chase(const Params& p) {
  unsigned at = static_cast<unsigned>(p.start);
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const unsigned* from = reinterpret_cast<const unsigned*>(p.data + at);
        at = past_l1 ? __ldcg(from) : *from;
      }
    }
  });
  keep(p, at);
}

__device__ long long thread_of_grid() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ long long threads_of_grid() { return static_cast<long long>(gridDim.x) * blockDim.x; }

}  // namespace

extern "C" __global__ void global_load_32(const Params p) { load<float, false>(p); }
extern "C" __global__ void global_load_64(const Params p) { load<float2, false>(p); }
extern "C" __global__ void global_load_128(const Params p) { load<float4, false>(p); }
extern "C" __global__ void l2_load_32(const Params p) { load<float, true>(p); }
extern "C" __global__ void l2_load_64(const Params p) { load<float2, true>(p); }
extern "C" __global__ void l2_load_128(const Params p) { load<float4, true>(p); }
extern "C" __global__ void global_store_32(const Params p) { store<float>(p); }
extern "C" __global__ void global_store_64(const Params p) { store<float2>(p); }
extern "C" __global__ void global_store_128(const Params p) { store<float4>(p); }
extern "C" __global__ void global_chase(const Params p) { chase<false>(p); }
extern "C" __global__ void l2_chase(const Params p) { chase<true>(p); }

// Reads `bytes` with 128-bit requests, the whole grid side by side, `iterations` times.
extern "C" __global__ void stream_read(const Params p) {
  const float4* data = reinterpret_cast<const float4*>(p.data);
  const long long count = p.bytes / sizeof(float4), step = threads_of_grid();
  float sums[4] = {};
  for (int i = 0; i < p.iterations; ++i) {
    for (long long at = thread_of_grid(); at < count; at += 4 * step) {
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        if (at + u * step < count) add(sums[u], __ldcg(data + at + u * step));
      }
    }
    data += p.zero;
  }
  keep(p, sums[0] + sums[1] + sums[2] + sums[3]);
}

extern "C" __global__ void stream_write(const Params p) {
  float4* data = reinterpret_cast<float4*>(p.data);
  const long long count = p.bytes / sizeof(float4), step = threads_of_grid();
  const float4 value = filled<float4>(static_cast<float>(p.zero));
  for (int i = 0; i < p.iterations; ++i) {
    for (long long at = thread_of_grid(); at < count; at += step) data[at] = value;
    data += p.zero;
  }
}

// Copies the first half of `bytes` to the second.
extern "C" __global__ void stream_copy(const Params p) {
  float4* data = reinterpret_cast<float4*>(p.data);
  const long long half = p.bytes / 2 / sizeof(float4), step = threads_of_grid();
  for (int i = 0; i < p.iterations; ++i) {
    for (long long at = thread_of_grid(); at < half; at += 4 * step) {
      float4 v[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        if (at + u * step < half) v[u] = __ldcg(data + at + u * step);
      }
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        if (at + u * step < half) data[half + at + u * step] = v[u];
      }
    }
    data += p.zero;
  }
}

extern "C" __global__ void global_atomic_add(const Params p) {
  char* at = place(p);
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kLoads; ++u) {
        atomicAdd(reinterpret_cast<int*>(at + u * kRegion), p.zero);
      }
      at += p.zero;
    }
  });
}

}  // namespace tessera::calibration
