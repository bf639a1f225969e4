// The description of one operand in global memory that copies take.
#pragma once

#include "base/config.h"
#include "launch/params.h"

namespace tessera::copy {

// `outer` is m of A, n of B. The operand is contiguous along k or along outer; neighbours along the
// other index are `stride` elements apart.
template <class T>
struct OperandOf {
  const T* data;
  long long outer, k;
  long long stride;
};

template <class T, Major major>
__device__ OperandOf<T> operand_a(const GemmParams& p) {
  return {static_cast<const T*>(p.a), p.m, p.k, major == Major::kK ? p.a_row : p.a_col};
}
template <class T, Major major>
__device__ OperandOf<T> operand_b(const GemmParams& p) {
  return {static_cast<const T*>(p.b), p.n, p.k, major == Major::kK ? p.b_col : p.b_row};
}

}  // namespace tessera::copy
