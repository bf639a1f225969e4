// The last step of a kernel: accumulators become D = alpha * sum + beta * C, four at a time if C, D
// and the edge of the matrix allow it. A partial sum is stored by the same code to another address,
// without alpha and C.
#pragma once

#include "base/config.h"
#include "kernels/tile/vec4.h"
#include "kernels/tile/vector.h"
#include "launch/params.h"

namespace tessera::epilogue {

// A row-major matrix that is written once: sums of type In become elements of type Out. Sizes and
// strides count elements.
template <class In, class Out>
struct Output {
  const Out* c;  // read only when beta is not zero: NaN in C must not reach D
  Out* d;
  long long c_row, d_row;
  long long rows, cols;
  In alpha, beta;
  bool vectors;  // C and D allow accesses of four elements (vector_output_of: of 16 bytes)

  // Returns the part from (row, col) on: empty if (row, col) is beyond the end of D.
  __device__ Output from(long long row, long long col) const {
    Output part = *this;
    if (c) part.c += row * c_row + col;
    part.d += row * d_row + col;
    part.rows -= row, part.cols -= col;
    return part;
  }

  __device__ void store(long long row, long long col, In sum) const {
    if (is_inside(row, col)) write(row, col, alpha * sum);
  }
  __device__ void store_scaled(long long row, long long col, In scaled) const {
    if (is_inside(row, col)) write(row, col, scaled);
  }

  // Stores four neighbouring outputs of a row; col is a multiple of four.
  __device__ void store_vec4(long long row, long long col, tile::Vec4<In> sum) const {
    if (!vectors || row >= rows || col + 4 > cols) {
      store(row, col + 0, sum.x);
      store(row, col + 1, sum.y);
      store(row, col + 2, sum.z);
      store(row, col + 3, sum.w);
      return;
    }
    store_vec4_inside(row, col, sum);
  }

  // Like store_vec4, for four outputs that are known to be inside of D, with `vectors` true.
  __device__ void store_vec4_inside(long long row, long long col, tile::Vec4<In> sum) const {
    tile::Vec4<In> out = {alpha * sum.x, alpha * sum.y, alpha * sum.z, alpha * sum.w};
    if (beta != 0) {
      const auto old = *reinterpret_cast<const tile::Vec4<Out>*>(c + row * c_row + col);
      out = {out.x + beta * static_cast<In>(old.x), out.y + beta * static_cast<In>(old.y),
             out.z + beta * static_cast<In>(old.z), out.w + beta * static_cast<In>(old.w)};
    }
    tile::store_vec4(d + row * d_row + col, {static_cast<Out>(out.x), static_cast<Out>(out.y),
                                             static_cast<Out>(out.z), static_cast<Out>(out.w)});
  }

  // Stores kVector neighbours of a row, which fill 16 bytes; col is a multiple of kVector.
  static constexpr int kVector = tile::Vector<Out>::kWidth;
  __device__ void store_vector(long long row, long long col, const In (&sum)[kVector]) const {
    if (row >= rows) return;
    const int there = tile::inside(col, cols, kVector);
    if (vectors && there == kVector) return store_vector_inside(row, col, sum);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      if (i < there) write(row, col + i, alpha * sum[i]);
    }
  }
  __device__ void store_vector_inside(long long row, long long col,
                                      const In (&sum)[kVector]) const {
    tile::Vector<Out> old = {}, out;
    if (beta != 0) old = *reinterpret_cast<const tile::Vector<Out>*>(c + row * c_row + col);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      out.x[i] = static_cast<Out>(beta == 0 ? alpha * sum[i]
                                            : alpha * sum[i] + beta * static_cast<In>(old.x[i]));
    }
    tile::store_vector(d + row * d_row + col, out);
  }

 private:
  __device__ bool is_inside(long long row, long long col) const { return row < rows && col < cols; }
  __device__ void write(long long row, long long col, In scaled) const {
    const In value = beta == 0 ? scaled : scaled + beta * static_cast<In>(c[row * c_row + col]);
    d[row * d_row + col] = static_cast<Out>(value);
  }
};

// Returns the Output that writes the D of a problem.
template <class In, class Out>
__device__ Output<In, Out> output_of(const GemmParams& p) {
  const bool vectors =
      tile::allows_vec4<Out>(p.d, p.d_row) && (p.beta == 0 || tile::allows_vec4<Out>(p.c, p.c_row));
  return {.c = static_cast<const Out*>(p.c),
          .d = static_cast<Out*>(p.d),
          .c_row = p.c_row,
          .d_row = p.d_row,
          .rows = p.m,
          .cols = p.n,
          .alpha = static_cast<In>(p.alpha),
          .beta = static_cast<In>(p.beta),
          .vectors = vectors};
}

// Like output_of, for stores by vectors of 16 bytes.
template <class In, class Out>
__device__ Output<In, Out> vector_output_of(const GemmParams& p) {
  Output<In, Out> output = output_of<In, Out>(p);
  output.vectors = tile::allows_vectors<Out>(p.d, p.d_row) &&
                   (p.beta == 0 || tile::allows_vectors<Out>(p.c, p.c_row));
  return output;
}

// One tile of a workspace for partial sums. The tile is as large as the block, so no output is
// outside of it. Sums are stored unchanged.
template <class T>
__device__ Output<T, T> partial_tile(T* partials, long long slot, OutputTile block) {
  return {.c = nullptr,
          .d = partials + slot * block.m * block.n,
          .c_row = 0,
          .d_row = block.n,
          .rows = block.m,
          .cols = block.n,
          .alpha = 1,
          .beta = 0,
          .vectors = true};
}

}  // namespace tessera::epilogue
