// A route: the caller's problem after some rewrites. A rewrite replaces a product by a simpler
// product with steps before and after it. The families make offers for the products of all
// routes, and the list of steps with the least total cost wins. A new rewrite is one file here,
// and one line in rewrites.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gemm/cost/cost.h"
#include "gemm/steps/subproblem.h"

namespace tessera::gemm {

struct Route {
  Subproblem product;                    // the product that families make offers for
  std::int64_t rounds = 1;               // the steps run so often: once per product of a batch
  std::vector<std::int64_t> temps = {};  // bytes of each; the first pieces of the workspace
  std::vector<Step> before = {};         // steps before the product
  std::vector<Step> after = {};          // steps after the product
  Cost cost = {};                        // of the steps before and after, in one round
  std::string text = {};  // describes the route in a decision: "; epilogue in a later launch"
};

struct Rewrite {
  std::string_view name;
  // Adds the rewritten form of `from`, if there is one. Not ok, with the reason, if the product
  // needs the rewrite but the rewrite is impossible.
  Status (*apply)(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes);
};

// The rewrites in order. Each is applied to all routes that exist before it.
std::span<const Rewrite> rewrites();

// All routes of a product; the first one has no rewrites. `refused`: why a rewrite that the
// product needs was not possible.
std::vector<Route> routes_of(const Subproblem& product, const DeviceLimits& limits,
                             Status& refused);

}  // namespace tessera::gemm
