// Matrices in a caller's host memory, and their copies on the device.
#pragma once

#include "base/divide.h"
#include "problem/problem.h"

namespace tessera::gemm::host {

// Whether adjacent elements of a stored matrix are in one column of op(X).
inline bool is_along_rows(Order order, Op op) {
  return (order == Order::kColumnMajor) == (op == Op::kNone);
}

// Whether C has a copy of its own on the device. If not, the copy of D first holds C.
inline bool has_own_c(const Problem& p) { return reads_c(p) && p.types.c != p.types.d; }

}  // namespace tessera::gemm::host
