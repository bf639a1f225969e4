// The second launch of a stream-K product: adds the partial sums of each split tile in ascending k,
// so that every run gives the same bits, and writes D. It may start while the first launch drains.
//
// A tile may have two partial sums or hundreds. In both cases a thread's loads should be in flight
// together, and all SMs busy. So the partial sums are divided into slices; each slice is added by
// different threads, and the sums of the slices by one thread.
#pragma once

#include "kernels/epilogue/output.h"
#include "kernels/passes/params.h"
#include "kernels/ptx/griddepcontrol.h"

namespace tessera::passes {

// WHY -0: x + (-0) is x for every x; x + 0 would change -0 to +0.
template <class T>
__device__ tile::Vec4<T> add_identity() {
  return {-T{0}, -T{0}, -T{0}, -T{0}};
}

// Four neighbouring sums of a split tile over partial sums first ... end-1, in ascending order.
// `workspace` contains the partial tiles.
template <int tile_elements, class T>
__device__ tile::Vec4<T> sum_of_partials(const T* workspace, schedule::Partials partials, int first,
                                         int end, int element) {
  using Vec4 = tile::Vec4<T>;
  Vec4 sum = add_identity<T>();
  for (int from = first; from < end; from += kReduceInFlight) {
    Vec4 some[kReduceInFlight];
#pragma unroll
    for (int i = 0; i < kReduceInFlight; ++i) {
      const T* partial = workspace + partials.slot(from + i) * tile_elements + element;
      some[i] = from + i < end ? *reinterpret_cast<const Vec4*>(partial) : add_identity<T>();
    }
#pragma unroll
    for (int i = 0; i < kReduceInFlight; ++i) tile::add(sum, some[i]);
  }
  return sum;
}

// The first partial sum of slice `slice`.
__device__ inline int slice_begin(schedule::Partials partials, int slice, int slices) {
  return partials.count * slice / slices;
}

// Adds the sums of all slices, in ascending order, to the sums of the first slice. All threads of a
// CTA call it; thread number = slice * vectors + vector.
template <class Vec4>
__device__ void add_slices(Vec4& sum, int vectors) {
  __shared__ Vec4 sums[kReduceThreads];
  __syncthreads();  // the sums of the previous piece have been read
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x >= vectors) return;
  for (int i = threadIdx.x + vectors; i < kReduceThreads; i += vectors) tile::add(sum, sums[i]);
}

// The CTAs share the pieces of all split tiles. `p` has gemm, schedule and partials, of type T.
template <int block_m, int block_n, class T = float, bool starts_early = true, class Params>
__device__ void reduce(const Params& p) {
  if constexpr (starts_early) ptx::launch_dependents();
  const int slices = reduce_slices(p.schedule), vectors = kReduceThreads / slices;
  const int slice = threadIdx.x / vectors;
  const int pieces = reduce_pieces(p.schedule, block_m, block_n);
  const auto output = epilogue::output_of<T, T>(p.gemm);
  if constexpr (starts_early) ptx::wait_for_prerequisites();
  for (int i = blockIdx.x; i < p.schedule.split_tiles() * pieces; i += gridDim.x) {
    const int split = i / pieces;
    const schedule::Partials partials = schedule::partials_of(p.schedule, split);
    if (partials.count == 1) continue;  // one run computed the tile and wrote D
    const schedule::TileCoord at = schedule::raster(p.schedule, p.schedule.whole_tiles + split);
    const int element = 4 * (i % pieces * vectors + static_cast<int>(threadIdx.x) % vectors);
    const long long row = at.m * block_m + element / block_n;
    const long long col = at.n * block_n + element % block_n;
    const bool inside = element < block_m * block_n && row < p.gemm.m && col < p.gemm.n;
    tile::Vec4<T> sum = add_identity<T>();
    if (inside) {
      sum = sum_of_partials<block_m * block_n>(p.partials, partials,
                                               slice_begin(partials, slice, slices),
                                               slice_begin(partials, slice + 1, slices), element);
    }
    if (slices > 1) add_slices(sum, vectors);
    if (inside && slice == 0) output.store_vec4(row, col, sum);
  }
}

}  // namespace tessera::passes
