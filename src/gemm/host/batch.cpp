#include "gemm/host/batch.h"

namespace tessera::gemm::host {

Problem product_of(Problem problem) {
  problem.batch = {};
  return problem;
}

Operands operands_at(const Problem& p, const Operands& at, std::int64_t i) {
  if (p.batch.kind != BatchKind::kPointers) return operands_of_product(p, at, i);
  Operands product = at;
  for (const Operand& operand : OperandTable(p)) {
    if (!operand.is_matrix || at[operand.id] == 0) continue;
    product[operand.id] = reinterpret_cast<const std::uint64_t*>(at[operand.id])[i];
  }
  return product;
}

}  // namespace tessera::gemm::host
