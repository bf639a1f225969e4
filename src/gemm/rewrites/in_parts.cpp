#include "gemm/rewrites/in_parts.h"

#include <algorithm>

namespace tessera::gemm {
namespace {

// Whether an operand has a row, or an element, for each row of D.
bool follows_rows(const Problem& p, OperandId id) {
  switch (id) {
    case OperandId::kB:
      return false;
    case OperandId::kScale:
      return p.epilogue.scale == VectorKind::kPerRow;
    case OperandId::kBias:
      return p.epilogue.bias == VectorKind::kPerRow;
    default:
      return true;
  }
}

}  // namespace

Subproblem rows_of(const Subproblem& product, std::int64_t first, std::int64_t rows) {
  Subproblem part = product;
  part.problem.m = rows;
  for (const Operand& operand : OperandTable(product.problem)) {
    if (!follows_rows(product.problem, operand.id)) continue;
    PlannedAddress& at = part[operand.id];
    at = at.moved(first * operand.view.row * size_of(operand.type));
  }
  return part;
}

std::vector<Subproblem> parts_of(const Subproblem& product, const Extents& extents) {
  std::vector<Subproblem> parts;
  const std::int64_t m = product.problem.m, n = product.problem.n;
  for (std::int64_t row = 0; row < m; row += extents.rows) {
    // In the other order columns are rows.
    const Subproblem rows = exchanged(rows_of(product, row, std::min(extents.rows, m - row)));
    for (std::int64_t column = 0; column < n; column += extents.columns) {
      parts.push_back(exchanged(rows_of(rows, column, std::min(extents.columns, n - column))));
    }
  }
  return parts;
}

}  // namespace tessera::gemm
