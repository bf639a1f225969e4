// Atomics: what an update costs by type, with a result (atom) and without one (red), by how many
// lanes, warps and CTAs want one address, in shared memory and in L2.
#include <cuda_fp16.h>

#include "tools/calibrate/kernels/timed.h"

namespace tessera::calibration {
namespace {

// HW: bank conflicts repeat every 128 bytes; patterns reach 4096 bytes far. Eight warps have a
// region of their own.
constexpr int kSharedBytes = 8 * 4096 + 4096;
constexpr int kAtomics = 4;  // a warp's requests in one iteration on global memory

__shared__ alignas(16) char memory[kSharedBytes];

__device__ void clear() {
  for (int i = threadIdx.x; i < kSharedBytes / 4; i += blockDim.x) {
    reinterpret_cast<float*>(memory)[i] = 0;
  }
}

// WHY two values in turn: a compare-and-swap loop never has to repeat where nothing changes, and a
// float that only grows stops changing.
struct Add {
  template <class T>
  __device__ static T apply(T* at, T value) {
    return atomicAdd(at, value);
  }
};
struct Max {
  template <class T>
  __device__ static T apply(T* at, T value) {
    return atomicMax(at, value);
  }
};
struct Exchange {
  template <class T>
  __device__ static T apply(T* at, T value) {
    return atomicExch(at, value);
  }
};
struct Swap {  // succeeds where the address holds 1
  template <class T>
  __device__ static T apply(T* at, T value) {
    return atomicCAS(at, T(1), value);
  }
};

__device__ inline unsigned bits_of(unsigned v) { return v; }
__device__ inline unsigned bits_of(float v) { return __float_as_uint(v); }
__device__ inline unsigned bits_of(unsigned long long v) { return static_cast<unsigned>(v); }
__device__ inline unsigned bits_of(double v) { return __double2loint(v); }

template <class T>
__device__ T made(int v) {
  if constexpr (sizeof(T) == 4 && !requires { T(1) + T(1) == 2; }) {
    return __floats2half2_rn(static_cast<float>(v), static_cast<float>(v));
  } else {
    return static_cast<T>(v);
  }
}

// Memory by byte offset. WHY no pointer is handed around: the compiler must see the state space.
struct Shared {
  template <class T>
  __device__ T* at(unsigned offset) const {
    return reinterpret_cast<T*>(memory + offset);
  }
};
struct Global {
  char* data;
  template <class T>
  __device__ T* at(unsigned offset) const {
    return reinterpret_cast<T*>(data + offset);
  }
};

// A lane whose offset is all ones takes no part. The others make `count` requests an iteration,
// `step` bytes apart.
template <class Op, class T, bool has_result, int count, class Space>
__device__ void update(const Params& p, Space space, unsigned first) {
  const unsigned offset = p.offsets[threadIdx.x % 32];
  unsigned at = first + offset;
  const T more = made<T>(1 + p.zero), less = made<T>(p.zero - 1);
  unsigned seen = 0;
  timed(p, [&] {
    if (offset == ~0U) return;
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < count; ++u) {
        const T old = Op::apply(space.template at<T>(at + u * p.step), u % 2 ? less : more);
        if constexpr (has_result) seen += bits_of(old);
      }
      at += p.zero;
    }
  });
  if constexpr (has_result) keep(p, seen);
}

template <class Op, class T, bool has_result>
__device__ void shared_update(const Params& p) {
  clear();
  const unsigned first = threadIdx.x / 32 * static_cast<unsigned>(p.warp_stride);
  update<Op, T, has_result, kUnroll>(p, Shared{}, first);
}

template <class Op, class T, bool has_result>
__device__ void global_update(const Params& p) {
  char* own = p.data + blockIdx.x * p.cta_stride + threadIdx.x / 32 * p.warp_stride;
  update<Op, T, has_result, kAtomics>(p, Global{own}, 0);
}

// Each address comes from the update before it. All words are 0 and stay 0.
template <class T, class Space>
__device__ void chase(const Params& p, Space space) {
  const T nothing = static_cast<T>(p.zero);
  unsigned at = 0;
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        at += static_cast<unsigned>(atomicAdd(space.template at<T>(at), nothing));
      }
    }
  });
  keep(p, at);
}

// Random bins, a power of two of them (`mask` + 1), of the whole grid or of each CTA.
template <class T, class Space>
__device__ void histogram(const Params& p, Space bins) {
  unsigned random = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761U + 1;
  const T more = made<T>(1 + p.zero), less = made<T>(p.zero - 1);
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kAtomics; ++u) {
        random = random * 1664525U + 1013904223U;
        const unsigned bin = random >> 8 & p.mask;
        atomicAdd(bins.template at<T>(bin * sizeof(T)), u % 2 ? less : more);
      }
    }
  });
}

// One address, and the compiler knows that all lanes have it: it may combine a warp's updates.
template <class T, bool has_result, class Space>
__device__ void counter(const Params& p, Space space) {
  unsigned seen = 0;
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kAtomics; ++u) {
        const T old = atomicAdd(space.template at<T>(0), T(1));
        if constexpr (has_result) seen += bits_of(old);
      }
    }
  });
  if constexpr (has_result) keep(p, seen);
}

// One update a lane, neighbours side by side, over `bytes`.
template <class T>
__device__ void stream(const Params& p) {
  T* data = reinterpret_cast<T*>(p.data);
  const long long count = p.bytes / sizeof(T);
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  const T value = made<T>(1 + p.zero);
  for (int i = 0; i < p.iterations; ++i) {
    for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < count;
         at += step) {
      atomicAdd(data + at, value);
    }
    data += p.zero;
  }
}

using U32 = unsigned;
using U64 = unsigned long long;

}  // namespace

extern "C" {
__global__ void shared_red_add_u32(const Params p) { shared_update<Add, U32, false>(p); }
__global__ void shared_red_add_u64(const Params p) { shared_update<Add, U64, false>(p); }
__global__ void shared_red_add_f32(const Params p) { shared_update<Add, float, false>(p); }
__global__ void shared_red_add_f64(const Params p) { shared_update<Add, double, false>(p); }
__global__ void shared_red_max_u32(const Params p) { shared_update<Max, U32, false>(p); }
__global__ void shared_red_max_u64(const Params p) { shared_update<Max, U64, false>(p); }
__global__ void shared_atom_add_u32(const Params p) { shared_update<Add, U32, true>(p); }
__global__ void shared_atom_add_u64(const Params p) { shared_update<Add, U64, true>(p); }
__global__ void shared_atom_add_f32(const Params p) { shared_update<Add, float, true>(p); }
__global__ void shared_atom_add_f64(const Params p) { shared_update<Add, double, true>(p); }
__global__ void shared_atom_exch_u32(const Params p) { shared_update<Exchange, U32, true>(p); }
__global__ void shared_atom_cas_u32(const Params p) { shared_update<Swap, U32, true>(p); }
__global__ void shared_atom_cas_u64(const Params p) { shared_update<Swap, U64, true>(p); }

__global__ void global_red_add_u32(const Params p) { global_update<Add, U32, false>(p); }
__global__ void global_red_add_u64(const Params p) { global_update<Add, U64, false>(p); }
__global__ void global_red_add_f32(const Params p) { global_update<Add, float, false>(p); }
__global__ void global_red_add_f64(const Params p) { global_update<Add, double, false>(p); }
__global__ void global_red_add_f16x2(const Params p) { global_update<Add, __half2, false>(p); }
__global__ void global_red_max_u32(const Params p) { global_update<Max, U32, false>(p); }
__global__ void global_red_max_u64(const Params p) { global_update<Max, U64, false>(p); }
__global__ void global_atom_add_u32(const Params p) { global_update<Add, U32, true>(p); }
__global__ void global_atom_add_u64(const Params p) { global_update<Add, U64, true>(p); }
__global__ void global_atom_add_f32(const Params p) { global_update<Add, float, true>(p); }
__global__ void global_atom_add_f64(const Params p) { global_update<Add, double, true>(p); }
__global__ void global_atom_exch_u32(const Params p) { global_update<Exchange, U32, true>(p); }
__global__ void global_atom_cas_u32(const Params p) { global_update<Swap, U32, true>(p); }
__global__ void global_atom_cas_u64(const Params p) { global_update<Swap, U64, true>(p); }

__global__ void shared_chase_u32(const Params p) { clear(), chase<U32>(p, Shared{}); }
__global__ void shared_chase_u64(const Params p) { clear(), chase<U64>(p, Shared{}); }
__global__ void shared_chase_f32(const Params p) { clear(), chase<float>(p, Shared{}); }
__global__ void global_chase_u32(const Params p) { chase<U32>(p, Global{p.data}); }
__global__ void global_chase_u64(const Params p) { chase<U64>(p, Global{p.data}); }
__global__ void global_chase_f32(const Params p) { chase<float>(p, Global{p.data}); }

__global__ void shared_histogram_u32(const Params p) { clear(), histogram<U32>(p, Shared{}); }
__global__ void shared_histogram_f32(const Params p) { clear(), histogram<float>(p, Shared{}); }
__global__ void global_histogram_u32(const Params p) { histogram<U32>(p, Global{p.data}); }
__global__ void global_histogram_f32(const Params p) { histogram<float>(p, Global{p.data}); }

__global__ void shared_counter_red_u32(const Params p) {
  clear(), counter<U32, false>(p, Shared{});
}
__global__ void shared_counter_atom_u32(const Params p) {
  clear(), counter<U32, true>(p, Shared{});
}
__global__ void global_counter_red_u32(const Params p) { counter<U32, false>(p, Global{p.data}); }
__global__ void global_counter_atom_u32(const Params p) { counter<U32, true>(p, Global{p.data}); }
__global__ void global_counter_red_f32(const Params p) { counter<float, false>(p, Global{p.data}); }

__global__ void stream_red_u32(const Params p) { stream<U32>(p); }
__global__ void stream_red_f32(const Params p) { stream<float>(p); }
}

}  // namespace tessera::calibration
