#include "gemm/rewrites/for_each.h"

namespace tessera::gemm {

Status add_for_each(const Route& from, const DeviceLimits&, std::vector<Route>& routes) {
  const Batch& batch = from.product.problem.batch;
  if (batch.kind != BatchKind::kStrided) return {};
  Route one = from;
  one.product.alignment = alignment_in_batch(from.product);
  one.product.problem.batch = {};
  one.rounds = batch.count;
  routes.push_back(std::move(one));
  return {};
}

}  // namespace tessera::gemm
