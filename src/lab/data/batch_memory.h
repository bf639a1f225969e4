// Treats the operands of a batch as one piece of memory that is filled, timed and counted as a
// whole.
#pragma once

#include <algorithm>
#include <cstdint>

#include "problem/problem.h"

namespace tessera::lab {

// Returns the distance in elements between the matrices to which a batch of pointers points.
inline std::int64_t place_of(const Problem& p, const MatrixView& view, ElementType type) {
  const std::int64_t unit = std::max<std::int64_t>(p.batch.alignment / size_of(type), 1);
  return (view.span() + unit - 1) / unit * unit;
}

// Returns a view with one row that holds every matrix of an operand. Without a batch, returns the
// view of the matrix itself.
inline MatrixView memory_view(const Problem& p, const MatrixView& view, ElementType type,
                              std::int64_t stride) {
  if (p.batch.kind == BatchKind::kNone) return view;
  const bool is_strided = p.batch.kind == BatchKind::kStrided;
  const std::int64_t step = is_strided ? stride : place_of(p, view, type);
  const std::int64_t elements =
      p.batch.count == 0 || view.span() == 0 ? 0 : (p.batch.count - 1) * step + view.span();
  return {1, elements, std::max<std::int64_t>(elements, 1), 1};
}

// Returns the FLOP of all products of the batch.
inline double flop_of(const Problem& p) {
  return 2 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
         static_cast<double>(p.batch.count);
}

}  // namespace tessera::lab
