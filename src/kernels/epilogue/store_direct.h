// From the registers of a warp to D, each thread its own outputs.
#pragma once

#include "kernels/epilogue/output.h"
#include "kernels/tile/thread_accumulators.h"

namespace tessera::epilogue {

// (row, col) is the first output of the warp's tile.
template <class Out, class Accumulators>
__device__ void store_direct(const Out& output, long long row, long long col, tile::Coord<> lane,
                             const Accumulators& accumulators) {
  accumulators.template for_each_vec4<Accumulators::kAllRows>(
      lane, [&](int i, int j, auto vec4) { output.store_vec4(row + i, col + j, vec4); });
}

}  // namespace tessera::epilogue
