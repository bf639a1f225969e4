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

std::vector<Subproblem> parts_by_rows(const Subproblem& given, std::int64_t rows) {
  const Subproblem whole = row_major(given);
  const Problem& p = whole.problem;
  std::vector<Subproblem> parts;
  for (std::int64_t first = 0; first < p.m; first += rows) {
    Subproblem part = whole;
    part.problem.m = std::min(rows, p.m - first);
    for (const Operand& operand : OperandTable(p)) {
      if (!follows_rows(p, operand.id)) continue;
      PlannedAddress& at = part[operand.id];
      at = at.moved(first * operand.view.row * size_of(operand.type));
    }
    parts.push_back(part);
  }
  return parts;
}

}  // namespace tessera::gemm
