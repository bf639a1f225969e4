// Stores a warp's sums from registers to D by vectors; each thread stores its own outputs.
#pragma once

#include "kernels/epilogue/output.h"
#include "kernels/tile/thread_accumulators.h"

namespace tessera::epilogue {

namespace detail {

inline constexpr int kPairsOfC = 8;  // pairs of C that a lane loads at a time

// pair_of_c() loads two neighbours of C, store_over() stores alpha * sum + beta * C for both.
// `whole`: both are inside and allow one 16-byte access.
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

// Stores vectors of 16 bytes. `output` begins at the warp's tile. If the tile is completely inside
// of D, the stores have no further checks.
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

// The same; if beta is not zero, loads several pairs of C per lane at a time. `ragged`: also if the
// warp's tile is cut by D's edge or not aligned.
//
// WHY several: D may be C, so the compiler moves no load before a store. With one pair at a time, a
// warp waits for device memory at each store: large updates with a short k then took several times
// as long as reading and writing the matrix.
// WHY `ragged`: where the main loop has no registers left, the second reader makes ptxas read
// strides from constants and order the loop differently, which was slower (128x128 across k).
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
