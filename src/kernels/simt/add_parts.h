// The second launch of a stream-K product: adds the partial sums of each cut tile in ascending k,
// so that every run gives the same bits, and writes D. It may start while the first launch drains.
#pragma once

#include "kernels/epilogue/output.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/simt/params.h"

namespace tessera::simt {

// Four neighbouring sums of a cut tile, the parts added one after the other.
template <int tile_elements>
__device__ float4 sum_of_parts(const SimtParams& p, scheduler::Parts parts, int cut, int element) {
  float4 sum = {0, 0, 0, 0};
  bool is_first = true;
  for (int run = parts.first; run <= parts.last; ++run) {
    const long long slot = scheduler::slot_in(p.schedule, cut, run);
    if (slot < 0) continue;
    const float4 part = *reinterpret_cast<const float4*>(p.parts + slot * tile_elements + element);
    // WHY: the first part is taken as it is: 0 + (-0) would be +0.
    sum = is_first ? part : float4{sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w};
    is_first = false;
  }
  return sum;
}

// Grid: kAddPieces blocks a cut tile.
template <int block_m, int block_n>
__device__ void add_parts(const SimtParams& p) {
  const int cut = blockIdx.x / kAddPieces, piece = blockIdx.x % kAddPieces;
  const scheduler::Parts parts = scheduler::parts_of(p.schedule, cut);
  if (parts.first == parts.last) return;  // one run computed all of it, and wrote D
  const scheduler::TilePosition at =
      scheduler::position_of(p.schedule, p.schedule.whole_tiles + cut);
  const auto output = epilogue::output_of(p.gemm);
  ptx::wait_for_prerequisites();
  constexpr int tile_elements = block_m * block_n;
  for (int strip = piece * kAddThreads + static_cast<int>(threadIdx.x); 4 * strip < tile_elements;
       strip += kAddPieces * kAddThreads) {
    const int row = 4 * strip / block_n, col = 4 * strip % block_n;
    const long long to_row = at.m * block_m + row, to_col = at.n * block_n + col;
    if (to_row >= p.gemm.m || to_col >= p.gemm.n) continue;
    output.store_strip(to_row, to_col, sum_of_parts<tile_elements>(p, parts, cut, 4 * strip));
  }
}

}  // namespace tessera::simt
