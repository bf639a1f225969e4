// The second launch of a tensor-core product with k split among CTAs: adds the partial sums in
// ascending k, so that every run gives the same bits, and writes D. It may start while the first
// launch drains.
#pragma once

#include "kernels/epilogue/store_pairs.h"
#include "kernels/passes/reduce.h"

namespace tessera::passes {

// Four neighbouring sums over the parts first ... end-1, in ascending order.
__device__ inline float4 sum_of_parts(const float* partials, long long part, int first, int end) {
  float4 sum = add_identity<float>();
  for (int i = first; i < end; i += kReduceInFlight) {
    float4 some[kReduceInFlight];
#pragma unroll
    for (int j = 0; j < kReduceInFlight; ++j) {
      const bool is_there = i + j < end;
      some[j] = is_there ? *reinterpret_cast<const float4*>(partials + (i + j) * part)
                         : add_identity<float>();
    }
#pragma unroll
    for (int j = 0; j < kReduceInFlight; ++j) tile::add(sum, some[j]);
  }
  return sum;
}

// Stores the outputs (row, column) to (row, column + 3).
template <ElementType out, bool with_c>
__device__ void store_four(const GemmParams& p, float4 sum, long long row, long long column) {
  const bool pairs = p.d_row % 2 == 0 &&
                     reinterpret_cast<unsigned long long>(p.d) % (2 * types::bytes_of(out)) == 0;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const long long at = row * p.d_row + column + i;
    const tile::Pair pair = i == 0 ? tile::Pair{sum.x, sum.y} : tile::Pair{sum.z, sum.w};
    const tile::Pair value = epilogue::combine<out, with_c>(p, pair, row, column + i);
    if (pairs && column + i + 1 < p.n) {
      epilogue::store_pair<out>(p.d, at, value);
    } else {
      if (column + i < p.n) epilogue::store_one<out>(p.d, at, value.low);
      if (column + i + 1 < p.n) epilogue::store_one<out>(p.d, at + 1, value.high);
    }
  }
}

// The CTAs share D, in groups of four outputs of a row.
template <ElementType out>
__device__ void reduce_parts(const ReduceParts& p) {
  ptx::launch_dependents();
  const int vectors = kReduceThreads / p.slices, slice = threadIdx.x / vectors;
  const long long fours = (p.gemm.n + 3) / 4;  // per row
  ptx::wait_for_prerequisites();
  for (long long begin = static_cast<long long>(blockIdx.x) * vectors; begin < p.gemm.m * fours;
       begin += static_cast<long long>(gridDim.x) * vectors) {
    const long long four = begin + threadIdx.x % vectors;
    const long long row = four / fours, column = four % fours * 4;
    const bool inside = row < p.gemm.m;
    float4 sum = add_identity<float>();
    if (inside) {
      sum = sum_of_parts(p.partials + row * p.ld + column, p.part, p.parts * slice / p.slices,
                         p.parts * (slice + 1) / p.slices);
    }
    if (p.slices > 1) add_slices(sum, vectors);
    if (p.parts == 0) sum = {0, 0, 0, 0};
    if (!inside || slice != 0) continue;
    if (p.gemm.beta != 0) {
      store_four<out, true>(p.gemm, sum, row, column);
    } else {
      store_four<out, false>(p.gemm, sum, row, column);
    }
  }
}

}  // namespace tessera::passes
