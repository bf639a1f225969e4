// The second launch of a stream-K product: adds the partial sums of each split tile in ascending k,
// so that every run gives the same bits, and writes D. It may start while the first launch drains.
//
// A tile may have two partial sums or hundreds. Either way all of a thread's loads should be in
// flight at once, and all SMs busy: so slices of the partial sums are added by threads of their
// own, then the slices' sums by one.
#pragma once

#include "kernels/epilogue/output.h"
#include "kernels/passes/params.h"
#include "kernels/ptx/griddepcontrol.h"

namespace tessera::passes {

// WHY: -0 changes no number that it is added to; 0 + (-0) would be +0.
__device__ inline float4 add_identity() { return {-0.0f, -0.0f, -0.0f, -0.0f}; }

// Four neighbouring sums of a split tile over the runs first ... end-1, in ascending order.
// `workspace` holds partial tiles.
template <int tile_elements>
__device__ float4 sum_of_runs(const float* workspace, schedule::Partials partials, int first,
                              int end, int element) {
  float4 sum = add_identity();
  for (int run = first; run < end; run += kReduceInFlight) {
    float4 some[kReduceInFlight];
#pragma unroll
    for (int i = 0; i < kReduceInFlight; ++i) {
      const float* partial = workspace + partials.slot(run + i) * tile_elements + element;
      some[i] = run + i < end ? *reinterpret_cast<const float4*>(partial) : add_identity();
    }
#pragma unroll
    for (int i = 0; i < kReduceInFlight; ++i) tile::add(sum, some[i]);
  }
  return sum;
}

// Slice `slice` begins at this run.
__device__ inline int slice_begin(schedule::Partials partials, int slice, int slices) {
  return partials.first + (partials.last - partials.first + 1) * slice / slices;
}

// Adds the sums of all slices, in ascending order, to the first one's. All threads of a CTA call
// it; thread: slice * vectors + vector.
__device__ inline void add_slices(float4& sum, int vectors) {
  __shared__ float4 sums[kReduceThreads];
  __syncthreads();  // the sums of the piece before have been read
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x >= vectors) return;
  for (int i = threadIdx.x + vectors; i < kReduceThreads; i += vectors) tile::add(sum, sums[i]);
}

// CTAs stride over pieces of the split tiles. `p` holds gemm, schedule and partials.
template <int block_m, int block_n, class Params>
__device__ void reduce(const Params& p) {
  ptx::launch_dependents();
  const int slices = reduce_slices(p.schedule), vectors = kReduceThreads / slices;
  const int slice = threadIdx.x / vectors;
  const int pieces = reduce_pieces(p.schedule, block_m, block_n);
  const auto output = epilogue::output_of<float, float>(p.gemm);
  ptx::wait_for_prerequisites();
  for (int i = blockIdx.x; i < p.schedule.split_tiles() * pieces; i += gridDim.x) {
    const int split = i / pieces;
    const schedule::Partials partials = schedule::partials_of(p.schedule, split);
    if (partials.first == partials.last) continue;  // one run computed all of it, and wrote D
    const schedule::TileCoord at = schedule::raster(p.schedule, p.schedule.whole_tiles + split);
    const int element = 4 * (i % pieces * vectors + static_cast<int>(threadIdx.x) % vectors);
    const long long row = at.m * block_m + element / block_n;
    const long long col = at.n * block_n + element % block_n;
    const bool inside = element < block_m * block_n && row < p.gemm.m && col < p.gemm.n;
    float4 sum = add_identity();
    if (inside) {
      sum =
          sum_of_runs<block_m * block_n>(p.partials, partials, slice_begin(partials, slice, slices),
                                         slice_begin(partials, slice + 1, slices), element);
    }
    if (slices > 1) add_slices(sum, vectors);
    if (inside && slice == 0) output.store_vec4(row, col, sum);
  }
}

}  // namespace tessera::passes
