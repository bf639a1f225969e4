#include "gemm/rewrites/more_digits.h"

namespace tessera::gemm {

Status add_more_digits(const Route& from, const DeviceLimits&, std::vector<Route>& routes) {
  const Problem& problem = from.product.problem;
  const ComputeFacts& wanted = facts_of(problem.types.compute);
  if (problem.batch.kind == BatchKind::kNone && wanted.terms == 1) return {};
  for (const ComputeType compute :
       {ComputeType::kF64, ComputeType::kF32, ComputeType::kF16, ComputeType::kS32}) {
    const ComputeFacts& has = facts_of(compute);
    if (has.sum != wanted.sum || has.operand_digits <= wanted.operand_digits) continue;
    Route exact = from;
    exact.product.problem.types.compute = compute;
    routes.push_back(std::move(exact));
  }
  return {};
}

}  // namespace tessera::gemm
