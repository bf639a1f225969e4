// From the registers of a warp to D, each thread its own outputs, by vectors.
#pragma once

#include "kernels/epilogue/output.h"
#include "kernels/tile/thread_accumulators.h"

namespace tessera::epilogue {

// In vectors of 16 bytes. `output` begins at the warp's tile. A warp whose tile is inside of D
// stores without asking again.
template <class Output, class Accumulators>
__device__ void store_vectors(const Output& output, OutputTile warp, int lane,
                              const Accumulators& accumulators) {
  if (output.vectors && output.rows >= warp.m && output.cols >= warp.n) {
    accumulators.for_each_pair(lane, [&](int row, int col, const auto& pair) {
      output.store_vector_inside(row, col, pair);
    });
  } else {
    accumulators.for_each_pair(lane, [&](int row, int col, const auto& pair) {
      output.store(row, col, pair[0]);
      output.store(row, col + 1, pair[1]);
    });
  }
}

// Four elements at a time. (row, col) is the first output of the warp's tile.
template <class Out, class Accumulators>
__device__ void store_direct(const Out& output, long long row, long long col, tile::Coord<> lane,
                             const Accumulators& accumulators) {
  accumulators.template for_each_vec4<Accumulators::kAllRows>(
      lane, [&](int i, int j, auto vec4) { output.store_vec4(row + i, col + j, vec4); });
}

}  // namespace tessera::epilogue
