// The sums of one thread, in registers, and their positions in its warp's tile.
#pragma once

#include "kernels/tile/lanes.h"
#include "kernels/tile/vec4.h"

namespace tessera::tile {

// Rows of each thread's accumulators.
struct Rows {
  int first, count;
};
// Rows as a type, so that an argument's value is known at compile time.
template <Rows rows>
struct RowsConstant {};

// A thread's outputs, `thread.m` x `thread.n`, as 4x4 subtiles in the layout of lanes.h.
template <class T, OutputTile lanes, OutputTile thread>
struct ThreadAccumulators {
  using Element = T;
  static constexpr OutputTile kLanes = lanes, kThread = thread;
  static constexpr OutputTile kWarp{lanes.m * thread.m, lanes.n* thread.n};  // the warp's tile
  static constexpr Rows kAllRows{0, thread.m};

  T sum[thread.m][thread.n];

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < thread.m; ++i) {
#pragma unroll
      for (int j = 0; j < thread.n; ++j) sum[i][j] = 0;
    }
  }

  // Calls `visit` with row, column and values of each vector of four neighbours in these rows. Rows
  // and columns count from the warp's tile; with lane {0, 0}, from the lane's own first output.
  template <Rows rows, class Visit>
  __device__ void for_each_vec4(Coord<> lane, Visit visit) const {
#pragma unroll
    for (int i = rows.first; i < rows.first + rows.count; ++i) {
#pragma unroll
      for (int j = 0; j < thread.n; j += kVector) {
        visit(element_of(lanes.m, lane.m, i), element_of(lanes.n, lane.n, j),
              Vec4<T>{sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]});
      }
    }
  }
};

}  // namespace tessera::tile
