// An operand in global memory with any strides and alignments.
#pragma once

#include "kernels/ptx/cp_async.h"

namespace tessera::copy {

// `outer` is m of A, n of B. Strides are in elements.
struct StridedOperand {
  const void* data;
  long long outer, k;
  long long by_outer, by_k;

  // Whether neighbours along k of every row are float4 in memory.
  __device__ bool has_fours() const {
    return by_k == 1 && by_outer % 4 == 0 && reinterpret_cast<unsigned long long>(data) % 16 == 0;
  }
  // Starts the copy of neighbours along k of a row; floats outside of the matrix are zeros.
  template <int floats>
  __device__ void copy(float* to, long long row, long long first_k) const {
    const long long left = row < outer ? k - first_k : 0;
    const int valid = left >= floats ? floats : left > 0 ? static_cast<int>(left) : 0;
    const long long from = valid > 0 ? row * by_outer + first_k * by_k : 0;
    ptx::cp_async<4 * floats>(to, static_cast<const float*>(data) + from, 4 * valid);
  }
};

}  // namespace tessera::copy
