#include "gemm/plan/parts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "gemm/plan/search.h"
#include "gemm/rewrites/in_parts.h"

namespace tessera::gemm {
namespace {

// HW: a part still fills the tiles of every kernel, and begins where vectors do.
constexpr std::int64_t kLeastExtent = 128;
constexpr int kMostHalvings = 8;

std::int64_t halved(std::int64_t extent, int times) {
  return std::min(extent, round_up(ceil_div(extent, std::int64_t{1} << times), kLeastExtent));
}

struct Cut {
  Extents extents;
  double cost;  // of all parts
};

// The least cost of cuts by rows, by columns, and by both, with the fewest halvings after which the
// kernel that is the cheapest for a part fits the workspace. None where no number of them does.
std::optional<Cut> fewest_halvings(const Subproblem& whole, const DeviceLimits& limits,
                                   const PlanOptions& options) {
  std::optional<Cut> best;
  const auto try_cut = [&](const Extents& extents) {
    const std::vector<Subproblem> parts = parts_of(whole, extents);
    const std::vector<Candidate> candidates = candidates_of(parts.front(), limits, options);
    const auto cheapest = std::min_element(
        candidates.begin(), candidates.end(),
        [](const Candidate& x, const Candidate& y) { return x.cost.total() < y.cost.total(); });
    if (cheapest->workspace_bytes() > options.workspace_limit) return;
    const double cost = cheapest->cost.total() * static_cast<double>(parts.size());
    if (!best || cost < best->cost) best = Cut{extents, cost};
  };
  for (int halvings = 1; halvings <= kMostHalvings && !best; ++halvings) {
    for (int of_columns = 0; of_columns <= halvings; ++of_columns) {
      try_cut(
          {halved(whole.problem.m, halvings - of_columns), halved(whole.problem.n, of_columns)});
    }
  }
  return best;
}

// In the order of the caller.
std::string_view name_of_parts(const Problem& p, const Extents& extents) {
  const bool is_row_major = p.order == Order::kRowMajor;
  const std::int64_t rows = is_row_major ? extents.rows : extents.columns;
  const std::int64_t columns = is_row_major ? extents.columns : extents.rows;
  if (columns >= p.n) return "parts of rows";
  return rows >= p.m ? "parts of columns" : "parts of rows and columns";
}

}  // namespace

Status plan_parts(const std::vector<Subproblem>& parts, std::string_view text,
                  const PlanOptions& options, Plan& plan) {
  Candidate all;
  std::int64_t most = 0;
  std::vector<Step> steps;
  std::vector<std::pair<const Subproblem*, KernelChoice>> planned;
  for (const Subproblem& part : parts) {
    // What is planned alike takes what the first one took, and no other kernel is asked.
    const auto alike = std::find_if(planned.begin(), planned.end(), [&](const auto& other) {
      const Subproblem& one = *other.first;
      return one.problem.m == part.problem.m && one.problem.n == part.problem.n &&
             one.alignment == part.alignment;
    });
    PlanOptions of_part = options;
    if (alike != planned.end()) of_part.kernel = alike->second;
    std::vector<Candidate> candidates = candidates_of(part, plan.limits, of_part);
    Status fits = rank(candidates, options.workspace_limit, plan.limits);
    if (!fits.ok()) return fits;
    const Candidate& best = candidates.front();
    if (alike == planned.end()) {
      planned.push_back({&part, {best.kernel, best.row->variant, name_of(best.decision)}});
    }
    for (Step& step : steps_of(best, plan.limits, options)) steps.push_back(std::move(step));
    most = std::max(most, best.workspace_bytes());
    const Cost before = all.cost;
    if (!all.kernel) all = best;
    all.cost = before + best.cost;
  }
  plan.steps = std::move(steps);
  all.temps = {most};
  all.decision = Decision{};
  all.is_in_parts = true;
  Route route{.product = subproblem_of(plan.problem, plan.alignment)};
  route.text = all.route->text + "; in " + std::to_string(parts.size()) + " " + std::string(text);
  all.route = std::make_shared<const Route>(std::move(route));
  plan.offers = {std::move(all)};
  return {};
}

bool plan_in_parts(double least_cost, const PlanOptions& options, Plan& plan) {
  const Problem& p = plan.problem;
  if (p.batch.kind != BatchKind::kNone) return false;
  const Subproblem whole = subproblem_of(p, plan.alignment);
  const std::optional<Cut> cut = fewest_halvings(row_major(whole), plan.limits, options);
  if (!cut || cut->cost >= least_cost) return false;
  std::vector<Candidate> as_whole = std::move(plan.offers);
  const Status planned = plan_parts(parts_of(row_major(whole), cut->extents),
                                    name_of_parts(p, cut->extents), options, plan);
  if (planned.ok() && plan.offers.front().cost.total() < least_cost) return true;
  plan.steps.clear();
  plan.offers = std::move(as_whole);
  return false;
}

}  // namespace tessera::gemm
