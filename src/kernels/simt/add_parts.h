// The second launch of a stream-K product: adds the partial sums of each cut tile in ascending k,
// so that every run gives the same bits, and writes D. It may start while the first launch drains.
#pragma once

#include "kernels/epilogue/output.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/simt/params.h"

namespace tessera::simt {

__device__ inline void add(float4& sum, const float4& part) {
  sum = {sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w};
}

// Four neighbouring sums of a cut tile, the parts added one after the other. Several loads are in
// flight at a time.
template <int tile_elements>
__device__ float4 sum_of_parts(const SimtParams& p, scheduler::Parts parts, int element) {
  constexpr int kInFlight = 8;
  const auto part_of = [&](int run) {
    return *reinterpret_cast<const float4*>(p.parts + parts.slot(run) * tile_elements + element);
  };
  // WHY: the first part is taken as it is: 0 + (-0) would be +0.
  float4 sum = part_of(parts.first);
  int run = parts.first + 1;
  for (; run + kInFlight <= parts.last + 1; run += kInFlight) {
    float4 some[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) some[i] = part_of(run + i);
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) add(sum, some[i]);
  }
  for (; run <= parts.last; ++run) add(sum, part_of(run));
  return sum;
}

// Blocks stride over pieces of the cut tiles, a strip of four a thread.
template <int block_m, int block_n>
__device__ void add_parts(const SimtParams& p) {
  constexpr int pieces = add_pieces(block_m, block_n);
  const auto output = epilogue::output_of(p.gemm);
  ptx::wait_for_prerequisites();
  for (int i = blockIdx.x; i < p.schedule.cut_tiles() * pieces; i += gridDim.x) {
    const int cut = i / pieces;
    const int strip = i % pieces * kAddThreads + static_cast<int>(threadIdx.x);
    const scheduler::Parts parts = scheduler::parts_of(p.schedule, cut);
    if (parts.first == parts.last) continue;  // one run computed all of it, and wrote D
    const scheduler::TilePosition at =
        scheduler::position_of(p.schedule, p.schedule.whole_tiles + cut);
    const long long row = at.m * block_m + 4 * strip / block_n;
    const long long col = at.n * block_n + 4 * strip % block_n;
    if (4 * strip >= block_m * block_n || row >= p.gemm.m || col >= p.gemm.n) continue;
    output.store_strip(row, col, sum_of_parts<block_m * block_n>(p, parts, 4 * strip));
  }
}

}  // namespace tessera::simt
