// The way out of a kernel: accumulators become D = alpha * sum + beta * C, four at a time where C,
// D and the edge of the matrix allow it. A partial sum goes the same way, with another place to go
// and neither alpha nor C.
#pragma once

#include "kernels/tile/lanes.h"
#include "launch/params.h"

namespace tessera::epilogue {

// What becomes of a finished value before it is stored: bias, ReLU, ... know its place.
struct AsItIs {
  __device__ float operator()(float value, long long, long long) const { return value; }
};

// A row-major matrix that is written once. Sizes in elements.
template <class Finish = AsItIs>
struct Output {
  const float* c;  // read only when beta is not zero: NaN in C must not reach D
  float* d;
  long long c_row, d_row;
  long long rows, cols;
  float alpha, beta;
  bool strips;         // 128-bit accesses are allowed
  bool later = false;  // what is stored here will be finished later, and C added
  Finish finish = {};
  long long first_row = 0, first_col = 0;  // in the whole matrix

  // The part that begins at (row, col); beyond the end there is nothing to store.
  __device__ Output from(long long row, long long col) const {
    Output part = *this;
    if (c) part.c += row * c_row + col;
    part.d += row * d_row + col;
    part.rows -= row, part.cols -= col;
    part.first_row += row, part.first_col += col;
    return part;
  }

  __device__ void store(long long row, long long col, float sum) const {
    if (is_inside(row, col)) write(row, col, alpha * sum);
  }
  __device__ void store_scaled(long long row, long long col, float scaled) const {
    if (is_inside(row, col)) write(row, col, scaled);
  }

  // Four neighbouring outputs of a row; col is a multiple of four.
  __device__ void store_strip(long long row, long long col, float4 sum) const {
    if (!strips || row >= rows || col + 4 > cols) {
      store(row, col + 0, sum.x);
      store(row, col + 1, sum.y);
      store(row, col + 2, sum.z);
      store(row, col + 3, sum.w);
      return;
    }
    store_inside(row, col, sum);
  }

  // The same where it is known that all four are inside and may be accessed as 128 bits.
  __device__ void store_inside(long long row, long long col, float4 sum) const {
    float4 out = {alpha * sum.x, alpha * sum.y, alpha * sum.z, alpha * sum.w};
    if (beta != 0) {
      const float4 old = *reinterpret_cast<const float4*>(c + row * c_row + col);
      out = {out.x + beta * old.x, out.y + beta * old.y, out.z + beta * old.z,
             out.w + beta * old.w};
    }
    const long long in_row = first_row + row, in_col = first_col + col;
    if (!later) {
      out = {finish(out.x, in_row, in_col), finish(out.y, in_row, in_col + 1),
             finish(out.z, in_row, in_col + 2), finish(out.w, in_row, in_col + 3)};
    }
    // WHY: a plain store of a float4 here is merged with the scalar path and comes out as four
    // STG.32.
    __stwb(reinterpret_cast<float4*>(d + row * d_row + col), out);
  }

 private:
  __device__ bool is_inside(long long row, long long col) const { return row < rows && col < cols; }
  __device__ void write(long long row, long long col, float scaled) const {
    const float value = beta == 0 ? scaled : scaled + beta * c[row * c_row + col];
    d[row * d_row + col] = finish(value, first_row + row, first_col + col);
  }
};

// A base address and a row stride (in floats) that let every fourth element be accessed as 128
// bits.
__device__ inline bool allows_strips(const void* base, long long stride) {
  return reinterpret_cast<unsigned long long>(base) % 16 == 0 && stride % 4 == 0;
}

// D of the problem.
__device__ inline Output<> output_of(const GemmParams& p) {
  const bool strips = allows_strips(p.d, p.d_row) && (p.beta == 0 || allows_strips(p.c, p.c_row));
  return {static_cast<const float*>(p.c), static_cast<float*>(p.d),   p.c_row, p.d_row, p.m, p.n,
          static_cast<float>(p.alpha),    static_cast<float>(p.beta), strips};
}

// One partial tile in a workspace of such tiles, for rows and columns of the block: nothing is
// outside, and the sum stays as it is.
__device__ inline Output<> partial_tile(float* parts, long long slot, int block_m, int block_n) {
  return {nullptr, parts + slot * block_m * block_n, 0, block_n, block_m, block_n, 1.0f, 0.0f,
          true};
}

// A tile in memory for a block's sums on their way to `output`: scaled, but no more.
template <class Finish>
__device__ Output<Finish> scratch_tile(const Output<Finish>& output, float* scratch, int block_m,
                                       int block_n) {
  return {nullptr, scratch, 0, block_n, block_m, block_n, output.alpha, 0.0f, true, true};
}

// Rows of each thread's sums.
struct Rows {
  int first, count;
};

// Calls `store` with the place and the values of each strip of these rows, placed as tile/lanes.h
// says and counted from the warp's tile.
template <auto cfg, Rows rows, class Store>
__device__ void for_each_strip(tile::LanePlace lane, const float (&sum)[cfg.thread.m][cfg.thread.n],
                               Store store) {
#pragma unroll
  for (int i = rows.first; i < rows.first + rows.count; ++i) {
#pragma unroll
    for (int j = 0; j < cfg.thread.n; j += tile::kVector) {
      store(tile::element_of(cfg.lanes.m, lane.m, i), tile::element_of(cfg.lanes.n, lane.n, j),
            float4{sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]});
    }
  }
}

// A thread's sums; (row, col) is where its warp's tile begins.
template <auto cfg, class Finish>
__device__ void store_sums(const Output<Finish>& output, long long row, long long col,
                           tile::LanePlace lane, const float (&sum)[cfg.thread.m][cfg.thread.n]) {
  for_each_strip<cfg, Rows{0, cfg.thread.m}>(
      lane, sum, [&](int i, int j, float4 strip) { output.store_strip(row + i, col + j, strip); });
}

}  // namespace tessera::epilogue
