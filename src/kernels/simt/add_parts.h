// The second launch of a stream-K product: adds the partial sums of each cut tile in ascending k,
// so that every run gives the same bits, and writes D. It may start while the first launch drains.
//
// A tile may have two parts or hundreds. Either way all of a thread's loads should be in flight at
// once, and all multiprocessors busy: so slices of the parts are added by threads of their own,
// then the slices' sums by one.
#pragma once

#include "kernels/epilogue/output.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/simt/params.h"

namespace tessera::simt {

__device__ inline void add(float4& sum, const float4& part) {
  sum = {sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w};
}

// WHY: what changes no number that it is added to: 0 + (-0) would be +0.
__device__ inline float4 nothing() { return {-0.0f, -0.0f, -0.0f, -0.0f}; }

// Four neighbouring sums of a cut tile over the runs first ... end-1, in ascending order.
template <int tile_elements>
__device__ float4 sum_of_runs(const SimtParams& p, scheduler::Parts parts, int first, int end,
                              int element) {
  float4 sum = nothing();
  for (int run = first; run < end; run += kAddInFlight) {
    float4 some[kAddInFlight];
#pragma unroll
    for (int i = 0; i < kAddInFlight; ++i) {
      const float* part = p.parts + parts.slot(run + i) * tile_elements + element;
      some[i] = run + i < end ? *reinterpret_cast<const float4*>(part) : nothing();
    }
#pragma unroll
    for (int i = 0; i < kAddInFlight; ++i) add(sum, some[i]);
  }
  return sum;
}

// Slice `slice` begins at this run.
__device__ inline int slice_begin(scheduler::Parts parts, int slice, int slices) {
  return parts.first + (parts.last - parts.first + 1) * slice / slices;
}

// Adds the sums of all slices, in ascending order, in the first one. All threads of a block call
// it; thread: slice * strips + strip.
__device__ inline void add_slices_up(float4& sum, int strips) {
  __shared__ float4 sums[kAddThreads];
  __syncthreads();  // the sums of the piece before have been read
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x >= strips) return;
  for (int i = threadIdx.x + strips; i < kAddThreads; i += strips) add(sum, sums[i]);
}

// Blocks stride over pieces of the cut tiles.
template <int block_m, int block_n>
__device__ void add_parts(const SimtParams& p) {
  ptx::launch_dependents();
  const int slices = add_slices(p.schedule), strips = kAddThreads / slices;
  const int slice = threadIdx.x / strips;
  const int pieces = add_pieces(p.schedule, block_m, block_n);
  const auto output = epilogue::output_of(p.gemm);
  ptx::wait_for_prerequisites();
  for (int i = blockIdx.x; i < p.schedule.cut_tiles() * pieces; i += gridDim.x) {
    const int cut = i / pieces;
    const scheduler::Parts parts = scheduler::parts_of(p.schedule, cut);
    if (parts.first == parts.last) continue;  // one run computed all of it, and wrote D
    const scheduler::TilePosition at =
        scheduler::position_of(p.schedule, p.schedule.whole_tiles + cut);
    const int element = 4 * (i % pieces * strips + static_cast<int>(threadIdx.x) % strips);
    const long long row = at.m * block_m + element / block_n;
    const long long col = at.n * block_n + element % block_n;
    const bool inside = element < block_m * block_n && row < p.gemm.m && col < p.gemm.n;
    float4 sum = nothing();
    if (inside) {
      sum = sum_of_runs<block_m * block_n>(p, parts, slice_begin(parts, slice, slices),
                                           slice_begin(parts, slice + 1, slices), element);
    }
    if (slices > 1) add_slices_up(sum, strips);
    if (inside && slice == 0) output.store_strip(row, col, sum);
  }
}

}  // namespace tessera::simt
