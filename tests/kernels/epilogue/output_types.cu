// The epilogue's outputs alone: D of the sums' type and of another, whole vectors and single
// elements. Sum (r, c) is 10 r + c.
#include "kernels/epilogue/output.h"

namespace {

using tessera::GemmParams;

// D in two parts, rows 0 ... 3 and the rest.
template <class Out>
__device__ void store(const GemmParams& p) {
  const auto whole = tessera::epilogue::output_of<float, Out>(p);
  for (int first = 0; first < p.m; first += 4) {
    const auto part = whole.from(first, 0);
    for (int i = threadIdx.x; i < 4 * ((p.n + 3) / 4); i += blockDim.x) {
      const int row = i % 4, col = i / 4 * 4;
      const float sum = 10 * (first + row) + col;
      part.store_vec4(row, col, {sum, sum + 1, sum + 2, sum + 3});
    }
  }
}

}  // namespace

extern "C" __global__ void output_f32(const __grid_constant__ GemmParams p) { store<float>(p); }
extern "C" __global__ void output_f64(const __grid_constant__ GemmParams p) { store<double>(p); }

// A partial tile of 4 x 8: neither alpha nor C.
extern "C" __global__ void output_partial(const __grid_constant__ GemmParams p) {
  const auto tile = tessera::epilogue::partial_tile(static_cast<float*>(p.d), 1, {4, 8});
  const int row = threadIdx.x % 4, col = threadIdx.x / 4 * 4;
  if (col >= 8) return;
  const float sum = 10 * row + col;
  tile.store_vec4(row, col, {sum, sum + 1, sum + 2, sum + 3});
  if (col == 0) tile.store(row, 0, sum);  // one element takes the same path
}
