// The plainest kernel over the stream-K schedule: no tiles in shared memory, one strip of four
// outputs a thread at a time. What it tests is everything around a main loop: who computes what,
// partial sums, and the launch that adds them.
#include "kernels/epilogue/output.h"
#include "kernels/families/simt/params.h"
#include "kernels/passes/reduce.h"

namespace {

constexpr int kM = 16, kN = 32, kK = 4;

using tessera::GemmParams;
using tessera::simt::SimtParams;

__device__ float product(const GemmParams& p, long long row, long long col, long long k_begin,
                         long long k_end) {
  const float* a = static_cast<const float*>(p.a);
  const float* b = static_cast<const float*>(p.b);
  float sum = 0;
  if (row >= p.m || col >= p.n) return sum;
  for (long long k = k_begin; k < k_end && k < p.k; ++k) {
    sum += a[row * p.a_row + k * p.a_col] * b[k * p.b_row + col * p.b_col];
  }
  return sum;
}

__device__ void compute(const SimtParams& p, const tessera::schedule::Work& work) {
  const long long k_begin = static_cast<long long>(work.k_begin) * kK;
  const long long k_end = static_cast<long long>(work.k_end) * kK;
  const int row = threadIdx.x / (kN / 4), col = threadIdx.x % (kN / 4) * 4;
  const long long to_row = work.tile_m * kM + row, to_col = work.tile_n * kN + col;
  const float4 sum = {product(p.gemm, to_row, to_col + 0, k_begin, k_end),
                      product(p.gemm, to_row, to_col + 1, k_begin, k_end),
                      product(p.gemm, to_row, to_col + 2, k_begin, k_end),
                      product(p.gemm, to_row, to_col + 3, k_begin, k_end)};
  if (work.slot < 0) {
    tessera::epilogue::output_of<float, float>(p.gemm).store_vec4(to_row, to_col, sum);
  } else {
    tessera::epilogue::partial_tile(p.partials, work.slot, {kM, kN}).store_vec4(row, col, sum);
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(128)
    stream_k_gemm(const __grid_constant__ SimtParams p) {
  namespace schedule = tessera::schedule;
  for (schedule::Work work = schedule::first(p.schedule, blockIdx.x); work.valid;
       work = schedule::next(p.schedule, blockIdx.x, work)) {
    compute(p, work);
  }
}

extern "C" __global__ void __launch_bounds__(tessera::passes::kReduceThreads)
    stream_k_add(const __grid_constant__ SimtParams p) {
  tessera::passes::reduce<kM, kN>(p);
}
