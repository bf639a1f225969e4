#include "gemm/rewrites/bias_as_c.h"
#include "gemm/rewrites/finish_later.h"
#include "gemm/rewrites/for_each.h"
#include "gemm/rewrites/more_digits.h"
#include "gemm/rewrites/route.h"
#include "gemm/rewrites/widen.h"

namespace tessera::gemm {

std::span<const Rewrite> rewrites() {
  static constexpr Rewrite kRewrites[] = {{"more digits", add_more_digits},
                                          {"for each", add_for_each},
                                          {"bias as C", add_bias_as_c},
                                          {"finish later", add_finish_later},
                                          {"widen", add_widen}};
  return kRewrites;
}

std::vector<Route> routes_of(const Subproblem& product, const DeviceLimits& limits,
                             Status& refused) {
  std::vector<Route> routes;
  routes.reserve(8);
  routes.push_back({product});
  for (const Rewrite& rewrite : rewrites()) {
    for (std::size_t i = 0, before = routes.size(); i < before; ++i) {
      const Route from = routes[i];
      Status status = rewrite.apply(from, limits, routes);
      if (!status.ok()) refused = std::move(status);
    }
  }
  return routes;
}

}  // namespace tessera::gemm
