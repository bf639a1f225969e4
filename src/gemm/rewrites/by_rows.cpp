#include "gemm/rewrites/by_rows.h"

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

std::vector<Subproblem> parts_by_rows(const Subproblem& given, std::int64_t rows) {
  const Subproblem whole = row_major(given);
  std::vector<Subproblem> parts;
  for (std::int64_t first = 0; first < whole.problem.m; first += rows) {
    parts.push_back(rows_of(whole, first, std::min(rows, whole.problem.m - first)));
  }
  return parts;
}

}  // namespace tessera::gemm
