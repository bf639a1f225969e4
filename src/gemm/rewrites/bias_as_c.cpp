#include "gemm/rewrites/bias_as_c.h"

namespace tessera::gemm {

// WHY D must have the type of the sums: for a narrower D, kernels apply a bias and an
// activation in their store.
bool is_bias_as_c(const Problem& problem) {
  const bool is_row_major = problem.order == Order::kRowMajor;
  const Epilogue bias{.bias = is_row_major ? VectorKind::kPerColumn : VectorKind::kPerRow};
  return problem.epilogue == bias && !reads_c(problem) &&
         problem.types.d == facts_of(problem.types.compute).sum &&
         problem.batch.kind != BatchKind::kPointers;  // a pointer batch has a C for each product
}

Status add_bias_as_c(const Route& from, const DeviceLimits&, std::vector<Route>& routes) {
  const Problem& problem = from.product.problem;
  if (!is_bias_as_c(problem)) return {};
  Route route = from;
  route.product.problem.epilogue = {};
  route.product.problem.types.c = problem.types.d;
  route.product.problem.beta = 1;
  route.product.problem.ldc = 0;
  route.product.problem.batch.stride_c = 0;
  route.product[OperandId::kC] = from.product[OperandId::kBias];
  route.product.alignment.c = from.product.alignment[OperandId::kBias];
  route.text += "; bias as C";
  routes.push_back(std::move(route));
  return {};
}

}  // namespace tessera::gemm
