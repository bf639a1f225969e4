// A route: the caller's problem after some rewrites. A rewrite replaces a product by a simpler one
// and steps before and after it. The families make offers for the products of all routes, and the
// list of steps with the least total cost wins. A new rewrite is one file here, and one line in
// rewrites.cpp.
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
  Subproblem product;                    // what families are asked
  std::int64_t rounds = 1;               // the steps run so often, for each product of the batch
  std::vector<std::int64_t> temps = {};  // bytes; the first pieces of the workspace
  std::vector<Step> before = {};         // steps before those of the product,
  std::vector<Step> after = {};          // and after them
  Cost cost = {};                        // of these steps, in one round
  std::string text = {};  // what a plan's decision adds: "; epilogue in a later launch"
};

struct Rewrite {
  std::string_view name;
  // Adds the route that it makes of another. Not ok, with the reason, where the product needs the
  // rewrite and it is not possible.
  Status (*apply)(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes);
};

// The rewrites in the order of their application, each to the routes of those before it.
std::span<const Rewrite> rewrites();

// All routes of a product, the one without a rewrite first. `refused`: why a rewrite that the
// product needs was not possible.
std::vector<Route> routes_of(const Subproblem& product, const DeviceLimits& limits,
                             Status& refused);

}  // namespace tessera::gemm
