// Warp-wide instructions of sm_90: matrices of 16-bit elements to and from shared memory, FP64
// matrix products by shape, copies that pass no register.
#include "kernels/ptx/cp_async.h"
#include "kernels/ptx/ldmatrix.h"
#include "kernels/ptx/mma.h"
#include "kernels/ptx/stmatrix.h"
#include "tools/calibrate/kernels/timed.h"

namespace tessera::calibration {
namespace {

constexpr int kStep = 256;  // as in shared_memory.cu
constexpr int kBytes = 4096 + kUnroll * kStep;

template <int count>
__device__ void load_matrices(const Params& p) {
  __shared__ alignas(16) char memory[kBytes];
  for (int i = threadIdx.x; i < kBytes / 4; i += blockDim.x) {
    reinterpret_cast<float*>(memory)[i] = 0;
  }
  unsigned at = p.offsets[threadIdx.x % 32];
  unsigned sum[count] = {};
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        std::uint32_t to[count];
        ptx::ldmatrix(to, memory + at + u * kStep);
#pragma unroll
        for (int c = 0; c < count; ++c) sum[c] ^= to[c];
      }
      at += p.zero;
    }
  });
  unsigned all = 0;
#pragma unroll
  for (int c = 0; c < count; ++c) all ^= sum[c];
  keep(p, all);
}

template <int count>
__device__ void store_matrices(const Params& p) {
  __shared__ alignas(16) char memory[kBytes];
  unsigned at = p.offsets[threadIdx.x % 32];
  std::uint32_t from[count];
#pragma unroll
  for (int c = 0; c < count; ++c) from[c] = p.zero;
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) ptx::stmatrix(memory + at + u * kStep, from);
      at += p.zero;
    }
  });
  __syncthreads();
  keep(p, reinterpret_cast<unsigned*>(memory)[threadIdx.x % 32]);
}

using Sums = double[4];
__device__ void product(Sums& d, const double (&a)[2], const double (&b)[1]) {
  ptx::mma_m16n8k4(d, a, b[0]);
}
__device__ void product(Sums& d, const double (&a)[4], const double (&b)[2]) {
  ptx::mma_m16n8k8(d, a, b);
}
__device__ void product(Sums& d, const double (&a)[8], const double (&b)[4]) {
  ptx::mma_m16n8k16(d, a, b);
}

// m16n8kDEPTH products, four sums of their own.
template <int depth>
__device__ void multiply(const Params& p) {
  constexpr int kSums = 4;
  double a[depth / 2], b[depth / 4];
  Sums d[kSums];
#pragma unroll
  for (double& value : a) value = p.iterations;
#pragma unroll
  for (double& value : b) value = p.iterations + 3 + p.zero;
#pragma unroll
  for (int s = 0; s < kSums; ++s) {
#pragma unroll
    for (double& value : d[s]) value = s;
  }
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) product(d[u % kSums], a, b);
    }
  });
  double total = 0;
#pragma unroll
  for (int s = 0; s < kSums; ++s) total += d[s][0] + d[s][1] + d[s][2] + d[s][3];
  keep(p, total);
}

}  // namespace

extern "C" __global__ void load_matrix_1(const Params p) { load_matrices<1>(p); }
extern "C" __global__ void load_matrix_2(const Params p) { load_matrices<2>(p); }
extern "C" __global__ void load_matrix_4(const Params p) { load_matrices<4>(p); }

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void store_matrix_1(const Params p) { store_matrices<1>(p); }
extern "C" __global__ void store_matrix_4(const Params p) { store_matrices<4>(p); }
extern "C" __global__ void dmma_16x8x4(const Params p) { multiply<4>(p); }
extern "C" __global__ void dmma_16x8x8(const Params p) { multiply<8>(p); }
extern "C" __global__ void dmma_16x8x16(const Params p) { multiply<16>(p); }
#endif

// 16 bytes a lane from L1 or L2 into shared memory; a group every 16 copies.
extern "C" __global__ void copy_async(const Params p) {
  __shared__ alignas(16) char memory[kUnroll * 512];
  const char* from = p.data + p.offsets[threadIdx.x % 32];
  char* to = memory + threadIdx.x % 32 * 16;
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) ptx::cp_async<16>(to + u * 512, from + u * 512);
      ptx::cp_async_commit_group();
      ptx::cp_async_wait_group<1>();
      from += p.zero;
    }
    ptx::cp_async_wait_group<0>();
  });
  keep(p, reinterpret_cast<unsigned*>(memory)[threadIdx.x % 32]);
}

}  // namespace tessera::calibration
