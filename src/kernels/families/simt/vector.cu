// A matrix times one vector or a few vectors: products with a small m or n. Each element of the
// matrix is loaded once and used once per vector, so the speed depends on the number of loads in
// flight. All strides and alignments: accesses of 16 bytes where base and stride allow them, else
// of 8 bytes, 4 bytes or one element.
//
//   rows along k         a warp sums a few rows at a time, its lanes along k; warps may share
//                        rows. On tensor cores: 16 rows, with four lanes along k
//   rows along outputs   neighbouring lanes have different outputs, the other lanes and all warps
//                        share k; one vector per pass over the matrix
//
// Sums of lanes and warps are added in a fixed order.
#include "kernels/copy/neighbours.h"
#include "kernels/families/simt/vector_config.h"
#include "kernels/families/simt/vector_params.h"
#include "kernels/mainloop/vector_mma.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/schedule/product_of.h"
#include "kernels/tile/vector.h"

namespace tessera::vector {

// The matrix, and the vectors of one pass over it.
template <class T>
struct View {
  const T* matrix;  // (output, k)
  const T* x;       // the first vector
  long long outputs, k;
  long long by_output, by_k;  // strides of the matrix; one of them is 1
  long long x_step, by_vector;
  long long first, vectors;  // number of the first vector, and how many follow from there on
  bool are_rows;
};

template <class T>
__device__ View<T> view_of(const GemmParams& p, bool are_rows, long long first) {
  const T* const a = static_cast<const T*>(p.a);
  const T* const b = static_cast<const T*>(p.b);
  if (are_rows) {
    return {b,     a + first * p.a_row, p.n, p.k, p.b_col, p.b_row, p.a_col, p.a_row,
            first, p.m - first,         true};
  }
  return {a,     b + first * p.b_col, p.m,  p.k, p.a_row, p.a_col, p.b_row, p.b_col,
          first, p.n - first,         false};
}

// Stores one output. `vector` counts from the view's first vector.
template <ElementType out, class T, class Sum>
__device__ void store(const GemmParams& p, const View<T>& view, long long output, int vector,
                      Sum sum) {
  using Storage = types::Storage<out>;
  if (output >= view.outputs || vector >= view.vectors) return;
  const long long of = view.first + vector;
  const long long row = view.are_rows ? of : output, column = view.are_rows ? output : of;
  Sum value = static_cast<Sum>(p.alpha) * sum;
  if (p.beta != 0) value += static_cast<Sum>(p.beta) * Storage::load(p.c, row * p.c_row + column);
  static_cast<typename Storage::Memory*>(p.d)[row * p.d_row + column] = Storage::converted(value);
}

// Whether all vectors of the view allow aligned accesses of `bytes` bytes.
template <class T>
__device__ bool allows_accesses(const View<T>& view, int bytes) {
  const auto distance = static_cast<unsigned long long>(view.by_vector) * sizeof(T);
  const auto address = reinterpret_cast<unsigned long long>(view.x);
  return view.x_step == 1 && (view.vectors > 1 ? address | distance : address) % bytes == 0;
}

// Adds the products of a few rows and vectors over a lane's share of k: `width` neighbours at a
// time, from `k` on in steps of `step` elements.
template <auto cfg, int width, class T, class Sum>
__device__ void multiply_rows(Sum (&sum)[cfg.vectors()][cfg.rows()], const View<T>& view,
                              const T* const (&row)[cfg.rows()], const T* const (&x)[cfg.vectors()],
                              long long k, long long step) {
  using Run = copy::Neighbours<cfg.in, width>;
  using One = copy::Neighbours<cfg.in, 1>;
  constexpr int kAhead = cfg.steps_ahead(width);
  const bool vectors_of_x = allows_accesses(view, width * sizeof(T));
  Run of_row[kAhead][cfg.rows()];
  const auto load_rows = [&](Run(&to)[cfg.rows()], long long at) {
    if (at + width > view.k) return;
#pragma unroll
    for (int r = 0; r < cfg.rows(); ++r) to[r].load(row[r] + at);
  };
#pragma unroll
  for (int i = 0; i < kAhead; ++i) load_rows(of_row[i], k + i * step);
  while (k + width <= view.k) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (k + width > view.k) break;
      Run of_x[cfg.vectors()];
#pragma unroll
      for (int v = 0; v < cfg.vectors(); ++v) {
        if (vectors_of_x) {
          of_x[v].load(x[v] + k);
        } else {
          of_x[v].load_each(x[v] + k * view.x_step, view.x_step);
        }
      }
#pragma unroll
      for (int j = 0; j < width; ++j) {
#pragma unroll
        for (int v = 0; v < cfg.vectors(); ++v) {
#pragma unroll
          for (int r = 0; r < cfg.rows(); ++r) sum[v][r] += of_row[i][r][j] * of_x[v][j];
        }
      }
      load_rows(of_row[i], k + kAhead * step);
      k += step;
    }
  }
  for (; k < view.k && k + width > view.k; ++k) {
    One of_one, of_x;
#pragma unroll
    for (int v = 0; v < cfg.vectors(); ++v) {
      of_x.load(x[v] + k * view.x_step);
#pragma unroll
      for (int r = 0; r < cfg.rows(); ++r) {
        of_one.load(row[r] + k);
        sum[v][r] += of_one[0] * of_x[0];
      }
    }
  }
}

// Sums over the lanes that differ only in the bits of value `first` and above; all get the sum.
template <class T>
__device__ T sum_of_lanes(T sum, int first) {
  for (int lanes = 16; lanes >= first; lanes /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, lanes);
  }
  return sum;
}

// Adds values of lanes that differ in one bit: each lane keeps the sums of one half of the values,
// and continues with these. WHY a recursion: a loop that halves its bound is not unrolled.
template <int half, int lanes, class T>
__device__ void add_halves(T* value) {
  const bool has_upper = threadIdx.x % 32 / (half * lanes) % 2 != 0;
#pragma unroll
  for (int i = 0; i < half; ++i) {
    const T given = has_upper ? value[i] : value[i + half];
    const T kept = has_upper ? value[i + half] : value[i];
    value[i] = kept + __shfl_xor_sync(0xffffffff, given, half * lanes);
  }
  if constexpr (half > 1) add_halves<half / 2, lanes>(value);
}

// Sums `count` values over all lanes. Each lane gets one of the sums: the first 32 / count lanes
// the first sum, and so on.
template <int count, class T>
__device__ T sums_among_lanes(T* value) {
  constexpr int kLanes = 32 / count;
  if constexpr (count > 1) add_halves<count / 2, kLanes>(value);
#pragma unroll
  for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) {
    value[0] += __shfl_xor_sync(0xffffffff, value[0], lanes);
  }
  return value[0];
}

// Returns row i, or the last row if i is too large: the sums of such rows are not stored.
__device__ inline long long nearest(long long i, long long count) {
  return i < count ? i : count - 1;
}

// Multiplies a lane's share of a warp's rows on CUDA cores. `shared` is the warp's memory for sums.
template <auto cfg, class T, class Sum>
__device__ void multiply_by_ffma(Sum* shared, const Params& all, const View<T>& view,
                                 long long first, int share) {
  const int lane = threadIdx.x % 32, sharing = all.warps_along_k;
  const T* row[cfg.rows()];
#pragma unroll
  for (int r = 0; r < cfg.rows(); ++r) {
    row[r] = view.matrix + nearest(first + r, view.outputs) * view.by_output;
  }
  const T* x[cfg.vectors()];
#pragma unroll
  for (int v = 0; v < cfg.vectors(); ++v) {
    x[v] = view.x + nearest(v, view.vectors) * view.by_vector;
  }
  Sum sum[cfg.vectors()][cfg.rows()] = {};
  const int place = share * 32 + lane;
  const auto multiply = [&]<int width>() {
    multiply_rows<cfg, width>(sum, view, row, x, place * width, 32LL * width * sharing);
  };
  if (all.width == cfg.vector()) {
    multiply.template operator()<cfg.vector()>();
  } else if (all.width * sizeof(T) == 8 && sizeof(T) < 8) {
    if constexpr (sizeof(T) < 8) multiply.template operator()<8 / sizeof(T)>();
  } else if (all.width * sizeof(T) == 4 && sizeof(T) < 4) {
    if constexpr (sizeof(T) < 4) multiply.template operator()<4 / sizeof(T)>();
  } else {
    multiply.template operator()<1>();
  }
  constexpr int kLanes = 32 / cfg.sums();
  const Sum of_warp = sums_among_lanes<cfg.sums()>(&sum[0][0]);
  if (lane % kLanes == 0) shared[lane / kLanes] = of_warp;
}

// Like multiply_by_ffma, on tensor cores.
template <auto cfg, class T, class Sum>
__device__ void multiply_by_mma(Sum* shared, const Params& all, const View<T>& view,
                                long long first, int share) {
  using Mma = mainloop::VectorMma<cfg>;
  const int line = threadIdx.x % 32 / 4;
  typename Mma::Lines rows[2], vectors[Mma::kGroups];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const long long row = nearest(first + line + 8 * i, view.outputs);
    rows[i] = {view.matrix + row * view.by_output, 1, all.width};
  }
  int width = 16 / sizeof(T);  // elements per access
  while (width > 1 && !allows_accesses(view, width * sizeof(T))) width /= 2;
#pragma unroll
  for (int i = 0; i < Mma::kGroups; ++i) {
    const long long vector = nearest(line + 8 * i, view.vectors);
    vectors[i] = {view.x + vector * view.by_vector, view.x_step, width};
  }
  constexpr long long kAtOnce = cfg.ahead * cfg.block.k;
  Mma mma;
  mma.multiply(rows, vectors, share * kAtOnce, view.k, all.warps_along_k * kAtOnce);
  mma.for_each([&](int row, int vector, Sum sum) { shared[vector * cfg.rows() + row] = sum; });
}

template <auto cfg, class T>
__device__ void multiply_along_k(const Params& all, const GemmParams& p, const View<T>& view,
                                 unsigned block) {
  using Sum = typename types::Storage<cfg.in>::Sum;
  __shared__ Sum sums[cfg.warps][cfg.sums()];
  const int warp = threadIdx.x / 32, sharing = all.warps_along_k, teams = cfg.warps / sharing;
  const long long first = static_cast<long long>(block) * teams * cfg.rows();
  const long long of_team = first + warp / sharing * cfg.rows();
  if constexpr (cfg.by == Arithmetic::kMma) {
    multiply_by_mma<cfg>(sums[warp], all, view, of_team, warp % sharing);
  } else {
    multiply_by_ffma<cfg>(sums[warp], all, view, of_team, warp % sharing);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < teams * cfg.sums(); i += cfg.threads()) {
    const int team = i / cfg.sums(), at = i % cfg.sums();
    Sum total = sums[team * sharing][at];
    for (int w = 1; w < sharing; ++w) total += sums[team * sharing + w][at];
    store<cfg.out>(p, view, first + team * cfg.rows() + at % cfg.rows(), at / cfg.rows(), total);
  }
}

// Adds the products of `width` neighbouring outputs, `count` of them in D, over a lane's part of k.
template <ElementType type, int width, class T, class Sum>
__device__ void multiply_columns(Sum (&sum)[width], const View<T>& view, const T* column, int count,
                                 long long k, long long step) {
  constexpr int kInFlight = width > 4 ? 4 : 8;
  using One = copy::Neighbours<type, 1>;
  if (count == width) {
    for (; k + (kInFlight - 1) * step < view.k; k += kInFlight * step) {
      copy::Neighbours<type, width> of_row[kInFlight];
      One x[kInFlight];
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        of_row[i].load(column + (k + i * step) * view.by_k);
        x[i].load(view.x + (k + i * step) * view.x_step);
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
#pragma unroll
        for (int j = 0; j < width; ++j) sum[j] += of_row[i][j] * x[i][0];
      }
    }
  }
  for (; k < view.k; k += step) {
    One of_row, x;
    x.load(view.x + k * view.x_step);
#pragma unroll
    for (int j = 0; j < width; ++j) {
      if (j < count) {
        of_row.load(column + k * view.by_k + j);
        sum[j] += of_row[0] * x[0];
      }
    }
  }
}

template <auto cfg, int width, class T>
__device__ void multiply_along_outputs(const Params& all, const GemmParams& p, const View<T>& view,
                                       unsigned block) {
  using Sum = typename types::Storage<cfg.in>::Sum;
  __shared__ Sum sums[cfg.warps][32 * width];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, lanes = all.lanes_along_outputs;
  const int column = lane % lanes * width, columns = lanes * width;
  const long long first = static_cast<long long>(block) * columns;
  Sum sum[width] = {};
  const int count = tile::inside(first + column, view.outputs, width), rows = 32 / lanes;
  if (count > 0) {
    multiply_columns<cfg.in>(sum, view, view.matrix + first + column, count,
                             warp * rows + lane / lanes, cfg.warps * rows);
  }
#pragma unroll
  for (int j = 0; j < width; ++j) {
    sum[j] = sum_of_lanes(sum[j], lanes);
    if (lane < lanes) sums[warp][column + j] = sum[j];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < columns; i += cfg.threads()) {
    Sum total = sums[0][i];
    for (int w = 1; w < cfg.warps; ++w) total += sums[w][i];
    store<cfg.out>(p, view, first + i, 0, total);
  }
}

template <auto cfg>
__device__ void run(const Params& all) {
  using T = typename types::Storage<cfg.in>::Memory;
  static_assert(is_legal(cfg));
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  const unsigned block = blockIdx.x % all.blocks, pass = blockIdx.x / all.blocks;
  const GemmParams p = schedule::with_addresses(
      all.gemm, schedule::addresses_of(all.gemm, all.batch, pass / all.passes));
  const bool are_along_k = (all.are_rows ? p.b_row : p.a_col) == 1;
  const long long vectors = are_along_k ? cfg.vectors() : 1;
  const View<T> view = view_of<T>(p, all.are_rows, pass % all.passes * vectors);
  if (are_along_k) {
    multiply_along_k<cfg>(all, p, view, block);
  } else if (all.width == cfg.vector()) {
    // WHY only for one vector: for several, the library requires rows along k. This saves code.
    if constexpr (cfg.vectors() == 1) {
      multiply_along_outputs<cfg, cfg.vector()>(all, p, view, block);
    }
  } else {
    multiply_along_outputs<cfg, 1>(all, p, view, block);
  }
}

}  // namespace tessera::vector
