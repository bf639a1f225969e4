// Stores a warp's sums from registers to D, in vectors. Each thread stores its own outputs.
#pragma once

#include "kernels/epilogue/output.h"
#include "kernels/tile/thread_accumulators.h"

namespace tessera::epilogue {

namespace detail {

inline constexpr int kPairsOfC = 8;  // pairs of C that a lane loads before it stores

// pair_of_c() loads two adjacent elements of a row of C. store_over() stores alpha * sum + beta * C
// to the two elements of D. `whole`: both elements are inside D, and are aligned to 16 bytes.
template <bool whole, class Output>
__device__ tile::Vector<double> pair_of_c(const Output& out, int row, int col) {
  const double* from = out.c + row * out.c_row + col;
  if constexpr (whole) {
    return *reinterpret_cast<const tile::Vector<double>*>(from);
  } else {
    const bool inside = row < out.rows;
    return {inside && col < out.cols ? from[0] : 0, inside && col + 1 < out.cols ? from[1] : 0};
  }
}
template <bool whole, class Output>
__device__ void store_over(const Output& out, int row, int col, const double (&sum)[2],
                           const tile::Vector<double>& old) {
  const tile::Vector<double> value = {out.alpha * sum[0] + out.beta * old.x[0],
                                      out.alpha * sum[1] + out.beta * old.x[1]};
  double* to = out.d + row * out.d_row + col;
  if constexpr (whole) {
    tile::store_vector(to, value);
  } else if (row < out.rows) {
    if (col < out.cols) to[0] = value.x[0];
    if (col + 1 < out.cols) to[1] = value.x[1];
  }
}

template <bool whole, class Output, class Accumulators>
__device__ void store_over_c(const Output& output, int lane, const Accumulators& accumulators) {
#pragma unroll
  for (int first = 0; first < Accumulators::kPairs; first += kPairsOfC) {
    tile::Vector<double> old[kPairsOfC];
    int next = 0;
    accumulators.for_each_pair(lane, [&](int row, int col, const auto&) {
      const int i = next++ - first;
      if (i >= 0 && i < kPairsOfC) old[i] = pair_of_c<whole>(output, row, col);
    });
    next = 0;
    accumulators.for_each_pair(lane, [&](int row, int col, const auto& pair) {
      const int i = next++ - first;
      if (i >= 0 && i < kPairsOfC) store_over<whole>(output, row, col, pair, old[i]);
    });
  }
}

}  // namespace detail

// Stores vectors of 16 bytes. `output` begins at the warp's tile. If the whole tile is inside D and
// D allows vectors, no store checks bounds. Otherwise each element is checked and stored alone.
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

// Like store_vectors(), but if beta is not 0, each lane loads several pairs of C before it stores.
// `ragged`: also does so if D's edge cuts the warp's tile, or if the tile is not aligned.
//
// WHY several pairs: D may be C, so the compiler moves no load above a store. With one pair at a
// time, a warp waits for device memory at each store. Large products with a short k then took
// several times as long as reading C and writing D.
// WHY `ragged` can be false: if the main loop uses all registers, a second path that reads C makes
// ptxas load strides from constant memory and reorder the loop: slower (128x128 tiles across k).
template <bool ragged = true, class Output, class Accumulators>
__device__ void store_vectors_with_c(const Output& output, OutputTile warp, int lane,
                                     const Accumulators& accumulators) {
  const bool reads_c = output.beta != 0;
  const bool whole = output.vectors && output.rows >= warp.m && output.cols >= warp.n;
  if (reads_c && whole) {
    detail::store_over_c<true>(output, lane, accumulators);
  } else if (reads_c && ragged) {
    detail::store_over_c<false>(output, lane, accumulators);
  } else {
    Output rest = output;
    if constexpr (ragged) rest.beta = 0;
    store_vectors(rest, warp, lane, accumulators);
  }
}

// Stores four elements at a time. (row, col) is the first output of the warp's tile.
template <class Out, class Accumulators>
__device__ void store_direct(const Out& output, long long row, long long col, tile::Coord<> lane,
                             const Accumulators& accumulators) {
  accumulators.template for_each_vec4<Accumulators::kAllRows>(
      lane, [&](int i, int j, auto vec4) { output.store_vec4(row + i, col + j, vec4); });
}

}  // namespace tessera::epilogue
