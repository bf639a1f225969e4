// An operand in global memory with any strides and alignments.
#pragma once

#include "kernels/ptx/cp_async.h"

namespace tessera::copy {

// `outer` is m of A, n of B. Strides are in elements.
struct StridedOperand {
  const void* data;
  long long outer, k;
  long long by_outer, by_k;

  // Whether four neighbours along k can be read as an aligned float4 in every row.
  __device__ bool has_fours() const {
    return by_k == 1 && by_outer % 4 == 0 && reinterpret_cast<unsigned long long>(data) % 16 == 0;
  }
  // Starts the copy of `floats` neighbours along k, from (row, first_k) on. Floats outside of the
  // matrix become zeros. The sides of the operand must be at most 2^30.
  template <int floats>
  __device__ void copy(float* to, int row, int first_k) const {
    const int left = row < static_cast<int>(outer) ? static_cast<int>(k) - first_k : 0;
    const int valid = min(max(left, 0), floats);
    const long long from = valid > 0 ? row * by_outer + first_k * by_k : 0;
    ptx::cp_async<4 * floats>(to, static_cast<const float*>(data) + from, 4 * valid);
  }
};

}  // namespace tessera::copy
