// Matrix times vector: a product of which m or n is 1. It reads each element of the matrix once and
// uses it once, so all that counts is that enough loads are on their way. All strides and
// alignments: 128-bit accesses where base and stride allow them, else one element at a time. A
// product of several vectors is right, too; each then reads the matrix again.
//
//   rows along k         a warp sums a few rows at a time, its lanes along k; several warps may
//                        share them
//   rows along outputs   lanes side by side own outputs, the other lanes and all warps share k
//
// Sums of lanes and warps are added in a fixed order.
#include "kernels/epilogue/output.h"
#include "kernels/families/simt/vector_config.h"
#include "kernels/families/simt/vector_params.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/schedule/product_of.h"
#include "kernels/tile/vector.h"

namespace tessera::vector {

// One vector and the matrix.
template <class T>
struct View {
  const T* matrix;  // (output, k)
  const T* x;
  long long outputs, k;
  long long by_output, by_k;  // strides of the matrix; one of them is 1
  long long x_step;
  long long row, column;  // where its outputs begin in D
  bool along_row;         // they are neighbours in D
};

template <class T>
__device__ View<T> view_of(const GemmParams& p, bool are_rows, long long i) {
  const T* const a = static_cast<const T*>(p.a);
  const T* const b = static_cast<const T*>(p.b);
  if (are_rows) return {b, a + i * p.a_row, p.n, p.k, p.b_col, p.b_row, p.a_col, i, 0, true};
  return {a, b + i * p.b_col, p.m, p.k, p.a_row, p.a_col, p.b_row, 0, i, false};
}

template <class T>
__device__ void store(const GemmParams& p, const View<T>& view, long long output, T sum) {
  if (output >= view.outputs) return;
  const long long row = view.row + (view.along_row ? 0 : output);
  const long long column = view.column + (view.along_row ? output : 0);
  epilogue::output_of<T, T>(p).store(row, column, sum);
}

// WHY __ldg: addresses that an array in memory may hold are generic ones to the compiler.
__device__ inline void load_vector(float (&to)[4], const float* from) {
  const float4 v = __ldg(reinterpret_cast<const float4*>(from));
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

// `width` neighbours: one access, or one each.
template <int width, class T>
__device__ void load(T (&to)[width], const T* from, long long step, bool is_vector) {
  if constexpr (width > 1) {
    if (is_vector) return load_vector(to, from);
  }
#pragma unroll
  for (int i = 0; i < width; ++i) to[i] = __ldg(from + i * step);
}

// The sums of a few rows over a lane's share of k: `width` neighbours at a time, `step` apart.
template <int rows, int width, class T>
__device__ void multiply_rows(T (&sum)[rows], const View<T>& view, const T* const (&row)[rows],
                              long long k, long long step) {
  constexpr int kInFlight = width > 1 ? 2 : 4;  // of each row
  const bool vector_of_x =
      view.x_step == 1 && reinterpret_cast<unsigned long long>(view.x) % 16 == 0;
  for (; k + (kInFlight - 1) * step + width <= view.k; k += kInFlight * step) {
    T of_row[kInFlight][rows][width], x[kInFlight][width];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
#pragma unroll
      for (int r = 0; r < rows; ++r) load(of_row[i][r], row[r] + k + i * step, 1, true);
      load(x[i], view.x + (k + i * step) * view.x_step, view.x_step, vector_of_x);
    }
#pragma unroll
    for (int i = 0; i < kInFlight * width; ++i) {
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        sum[r] += of_row[i / width][r][i % width] * x[i / width][i % width];
      }
    }
  }
  for (; k < view.k; k += step) {
    for (long long at = k; at < k + width && at < view.k; ++at) {
#pragma unroll
      for (int r = 0; r < rows; ++r)
        sum[r] += __ldg(row[r] + at) * __ldg(view.x + at * view.x_step);
    }
  }
}

// Of lanes that differ in the bits from `first` on: all get the sum.
template <class T>
__device__ T sum_of_lanes(T sum, int first) {
  for (int lanes = 16; lanes >= first; lanes /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, lanes);
  }
  return sum;
}

template <auto cfg, class T>
__device__ void multiply_along_k(const Params& all, const GemmParams& p, const View<T>& view,
                                 unsigned block) {
  constexpr int kRows = cfg.rows(), kWidth = cfg.kVector;
  __shared__ T sums[cfg.warps][kRows];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sharing = all.warps_along_k;
  const long long first =
      (static_cast<long long>(block) * (cfg.warps / sharing) + warp / sharing) * kRows;
  const T* row[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const long long there = first + r < view.outputs ? first + r : view.outputs - 1;
    row[r] = view.matrix + there * view.by_output;
  }
  T sum[kRows] = {};
  const int place = warp % sharing * 32 + lane;
  if (all.is_aligned) {
    multiply_rows<kRows, kWidth>(sum, view, row, place * kWidth, 32LL * kWidth * sharing);
  } else {
    multiply_rows<kRows, 1>(sum, view, row, place, 32LL * sharing);
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) sum[r] = sum_of_lanes(sum[r], 1);
  if (lane == 0) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) sums[warp][r] = sum[r];
  }
  __syncthreads();
  if (warp % sharing != 0 || lane >= kRows) return;
  T total = sums[warp][lane];
  for (int i = 1; i < sharing; ++i) total += sums[warp + i][lane];
  store(p, view, first + lane, total);
}

// The sums of `width` neighbouring outputs over a lane's share of k; `count` of them are there.
template <int width, class T>
__device__ void multiply_columns(T (&sum)[width], const View<T>& view, const T* column, int count,
                                 long long k, long long step) {
  constexpr int kInFlight = 8;
  if (count == width) {
    for (; k + (kInFlight - 1) * step < view.k; k += kInFlight * step) {
      T of_row[kInFlight][width], x[kInFlight];
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        load(of_row[i], column + (k + i * step) * view.by_k, 1, true);
        x[i] = __ldg(view.x + (k + i * step) * view.x_step);
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
#pragma unroll
        for (int j = 0; j < width; ++j) sum[j] += of_row[i][j] * x[i];
      }
    }
  }
  for (; k < view.k; k += step) {
#pragma unroll
    for (int j = 0; j < width; ++j) {
      if (j < count) {
        sum[j] += __ldg(column + k * view.by_k + j) * __ldg(view.x + k * view.x_step);
      }
    }
  }
}

template <auto cfg, int width, class T>
__device__ void multiply_along_outputs(const Params& all, const GemmParams& p, const View<T>& view,
                                       unsigned block) {
  __shared__ T sums[cfg.warps][32 * width];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, lanes = all.lanes_along_outputs;
  const int column = lane % lanes * width, columns = lanes * width;
  const long long first = static_cast<long long>(block) * columns;
  T sum[width] = {};
  const int count = tile::inside(first + column, view.outputs, width), rows = 32 / lanes;
  if (count > 0) {
    multiply_columns(sum, view, view.matrix + first + column, count, warp * rows + lane / lanes,
                     cfg.warps * rows);
  }
#pragma unroll
  for (int j = 0; j < width; ++j) {
    sum[j] = sum_of_lanes(sum[j], lanes);
    if (lane < lanes) sums[warp][column + j] = sum[j];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < columns; i += cfg.threads()) {
    T total = sums[0][i];
    for (int w = 1; w < cfg.warps; ++w) total += sums[w][i];
    store(p, view, first + i, total);
  }
}

template <auto cfg>
__device__ void run(const Params& all) {
  using T = typename decltype(cfg)::Element;
  static_assert(is_legal(cfg));
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  const unsigned block = blockIdx.x % all.blocks, vector = blockIdx.x / all.blocks;
  const GemmParams p = schedule::with_addresses(
      all.gemm, schedule::addresses_of(all.gemm, all.batch, vector / all.vectors));
  const View<T> view = view_of<T>(p, all.are_rows, vector % all.vectors);
  if (view.by_k == 1) {
    multiply_along_k<cfg>(all, p, view, block);
  } else if (all.is_aligned) {
    multiply_along_outputs<cfg, cfg.kVector>(all, p, view, block);
  } else {
    multiply_along_outputs<cfg, 1>(all, p, view, block);
  }
}

}  // namespace tessera::vector
