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
    // WHY exchange A and B: the columns of D become rows.
    const Subproblem rows = exchanged(rows_of(product, row, std::min(extents.rows, m - row)));
    for (std::int64_t column = 0; column < n; column += extents.columns) {
      parts.push_back(exchanged(rows_of(rows, column, std::min(extents.columns, n - column))));
    }
  }
  return parts;
}

bool can_add_along_k(const Problem& p) {
  return p.batch.kind == BatchKind::kNone && reads_ab(p) &&
         p.types.d == facts_of(p.types.compute).sum && (p.types.c == p.types.d || !reads_c(p));
}

std::vector<Subproblem> parts_along_k(const Subproblem& product, std::int64_t extent) {
  using enum OperandId;
  const Problem& whole = product.problem;
  const std::int64_t of_a = view_a(whole).col * size_of(whole.types.a);
  const std::int64_t of_b = view_b(whole).row * size_of(whole.types.b);
  std::vector<Subproblem> parts;
  for (std::int64_t first = 0; first < whole.k; first += extent) {
    Subproblem part = product;
    Problem& p = part.problem;
    p.k = std::min(extent, whole.k - first);
    p.types.c = p.types.d;
    part[kA] = part[kA].moved(first * of_a);
    part[kB] = part[kB].moved(first * of_b);
    if (first + extent < whole.k) p.epilogue = {};
    if (first > 0) {
      part[kC] = part[kD];
      part.alignment.c = part.alignment.d;
      p.ldc = p.ldd;
      p.beta = 1;
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace tessera::gemm
