// From the registers of a warp to D, each lane its own outputs, in vectors of 16 bytes.
#pragma once

#include "kernels/epilogue/output.h"

namespace tessera::epilogue {

// `output` begins at the warp's tile. A warp whose tile is inside of D stores without asking again.
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

}  // namespace tessera::epilogue
