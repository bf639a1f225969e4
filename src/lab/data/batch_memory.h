// The operands of a batch as memory that is filled, timed and counted as a whole.
#pragma once

#include <algorithm>
#include <cstdint>

#include "problem/problem.h"

namespace tessera::lab {

// Elements between the places of matrices that a batch of pointers addresses.
inline std::int64_t place_of(const Problem& p, const MatrixView& view, ElementType type) {
  const std::int64_t unit = std::max<std::int64_t>(p.batch.alignment / size_of(type), 1);
  return (view.span() + unit - 1) / unit * unit;
}

// One row that holds every matrix of an operand. Without a batch: the matrix as it is.
inline MatrixView memory_view(const Problem& p, const MatrixView& view, ElementType type,
                              std::int64_t stride) {
  if (p.batch.kind == BatchKind::kNone) return view;
  const bool is_strided = p.batch.kind == BatchKind::kStrided;
  const std::int64_t step = is_strided ? stride : place_of(p, view, type);
  const std::int64_t elements =
      p.batch.count == 0 || view.span() == 0 ? 0 : (p.batch.count - 1) * step + view.span();
  return {1, elements, std::max<std::int64_t>(elements, 1), 1};
}

// The FLOP of all products.
inline double flop_of(const Problem& p) {
  return 2 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
         static_cast<double>(p.batch.count);
}

}  // namespace tessera::lab
