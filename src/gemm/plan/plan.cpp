#include "gemm/plan/plan.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "gemm/plan/parts.h"
#include "gemm/plan/search.h"
#include "gemm/plan/tuned.h"
#include "gemm/rewrites/fold.h"
#include "gemm/rewrites/groups.h"

namespace tessera::gemm {
namespace {

// A product is tried in parts if its cheapest candidate exceeds the workspace limit and costs at
// most this share of the cheapest candidate within the limit.
constexpr double kWorthParts = 0.95;
constexpr double kAnyCost = std::numeric_limits<double>::infinity();

double least_cost(const std::vector<Candidate>& candidates) {
  double least = kAnyCost;
  for (const Candidate& one : candidates) least = std::min(least, one.cost.total());
  return least;
}

}  // namespace

std::string Candidate::name() const {
  return kernel->name + "/" + row->variant + (is_in_parts ? "" : ":" + name_of(decision));
}

std::vector<std::int64_t> Candidate::all_temps() const {
  std::vector<std::int64_t> all = route->temps;
  all.insert(all.end(), temps.begin(), temps.end());
  return all;
}

Status check_packed(const Problem& problem, const PackedOperands& packed) {
  const Batch& batch = problem.batch;
  if (!packed.any() || batch.kind == BatchKind::kNone) return {};
  const auto is_shared = [&](std::int64_t stride) {
    return batch.kind == BatchKind::kStrided && (stride == 0 || batch.count <= 1);
  };
  if ((!packed.a || is_shared(batch.stride_a)) && (!packed.b || is_shared(batch.stride_b))) {
    return {};
  }
  return Status::bad_argument("batch is " + describe(batch) +
                              ", but a packed operand must be the same for all products: strided, "
                              "with a stride of 0");
}

Problem planned_problem(Problem problem) {
  problem = with_default_ld(problem);
  problem.alpha = problem.alpha == 0 ? 0 : 1;
  problem.beta = problem.beta == 0 ? 0 : 1;
  return problem;
}

Plan plan(const Problem& given, const Alignment& alignment, const DeviceLimits& limits,
          const PlanOptions& options) {
  Problem problem = planned_problem(given);
  require(check(problem));
  require(check_supported(problem));
  require(check_packed(problem, options.packed));
  if (problem.batch.kind == BatchKind::kStrided && problem.batch.count == 1) problem.batch = {};
  if (problem.batch.kind == BatchKind::kGroups && !is_empty(problem)) {
    Plan plan{problem, 1, OperandTable(problem), alignment, limits, {}, {}};
    const Subproblem whole = subproblem_of(problem, alignment);
    require(plan_parts(products_of_groups(whole), "groups of rows", options, plan));
    return plan;
  }
  if (problem.batch.kind == BatchKind::kGroups) problem.batch = {};  // nothing is written
  std::int64_t products = 1;
  if (const auto one = folded(problem); one && options.fold != Policy::kNever) {
    products = problem.batch.count;
    problem = *one;
  }
  Plan plan{problem, products, OperandTable(problem), alignment, limits, {}, {}};
  plan.workspace_limit = options.workspace_limit;
  plan.packed = options.packed;
  std::optional<Candidate> tuned;
  if (!is_empty(problem)) tuned = tuned_candidate(options, plan);
  plan.offers = candidates_of(subproblem_of(problem, alignment), limits, options);
  const double unlimited = least_cost(plan.offers);
  const Status fits = rank(plan.offers, options.workspace_limit, limits);
  if (tuned) {
    put_first(std::move(*tuned), fits.ok(), plan.offers);
    plan.steps = steps_of(plan.offers.front(), limits, options);
    return plan;
  }
  if (!fits.ok()) {
    if (!plan_in_parts(kAnyCost, options, plan)) throw StatusError(fits);
    return plan;
  }
  const double least = plan.offers.front().cost.total();
  if (unlimited < kWorthParts * least && plan_in_parts(least, options, plan)) return plan;
  if (!is_empty(problem)) plan.steps = steps_of(plan.offers.front(), limits, options);
  return plan;
}

}  // namespace tessera::gemm
