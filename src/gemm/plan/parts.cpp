#include "gemm/plan/parts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "gemm/plan/search.h"
#include "gemm/rewrites/in_parts.h"

namespace tessera::gemm {
namespace {

// HW: parts of this size fill the tiles of every kernel, and begin at multiples of vectors.
constexpr std::int64_t kLeastExtent = 128;
constexpr int kMostHalvings = 8;

std::int64_t halved(std::int64_t extent, int times) {
  return std::min(extent, round_up(ceil_div(extent, std::int64_t{1} << times), kLeastExtent));
}

struct Cut {
  std::vector<Subproblem> parts;
  std::string_view text;  // what the parts are: "parts of rows"
  double cost;            // of all parts
};

// The name of the parts, in rows and columns of the caller's order.
std::string_view name_of_parts(const Problem& p, const Extents& extents) {
  const bool is_row_major = p.order == Order::kRowMajor;
  const std::int64_t rows = is_row_major ? extents.rows : extents.columns;
  const std::int64_t columns = is_row_major ? extents.columns : extents.rows;
  if (columns >= p.n) return "parts of rows";
  return rows >= p.m ? "parts of columns" : "parts of rows and columns";
}

// The candidate with the cheapest kernel, with all the workspace that the kernel requests.
Candidate cheapest(const Subproblem& product, const DeviceLimits& limits,
                   const PlanOptions& options) {
  std::vector<Candidate> all = candidates_of(product, limits, options);
  return std::move(*std::min_element(all.begin(), all.end(), [](const auto& x, const auto& y) {
    return x.cost.total() < y.cost.total();
  }));
}

// Cuts D by rows, by columns, and by both, with the fewest halvings after which the
// cheapest kernel of a part fits the workspace limit, and returns the cheapest cut. None if
// no number of halvings is enough.
std::optional<Cut> fewest_halvings(const Subproblem& whole, const DeviceLimits& limits,
                                   const PlanOptions& options) {
  std::optional<Cut> best;
  const Subproblem product = row_major(whole);
  const auto try_cut = [&](const Extents& extents) {
    std::vector<Subproblem> parts = parts_of(product, extents);
    const Candidate one = cheapest(parts.front(), limits, options);
    if (one.workspace_bytes() > options.workspace_limit) return;
    const double cost = one.cost.total() * static_cast<double>(parts.size());
    if (best && cost >= best->cost) return;
    best = Cut{std::move(parts), name_of_parts(whole.problem, extents), cost};
  };
  const std::int64_t m = product.problem.m, n = product.problem.n;
  for (int halvings = 1; halvings <= kMostHalvings && !best; ++halvings) {
    for (int of_columns = 0; of_columns <= halvings; ++of_columns) {
      try_cut({halved(m, halvings - of_columns), halved(n, of_columns)});
    }
  }
  return best;
}

// Cuts k into as few parts as the workspace of the whole suggests, or a few more. Unlike with a
// cut of D in both directions, nothing is repacked or split into terms twice; but each part after
// the first reads D once more.
std::optional<Cut> cut_along_k(const Subproblem& whole, const DeviceLimits& limits,
                               const PlanOptions& options) {
  constexpr std::int64_t kTries = 3, kMostParts = 256;
  const std::int64_t limit = options.workspace_limit, k = whole.problem.k;
  if (!can_add_along_k(whole.problem) || limit <= 0) return std::nullopt;
  const std::int64_t needed = cheapest(whole, limits, options).workspace_bytes();
  const std::int64_t fewest = std::max<std::int64_t>(2, ceil_div(needed, limit));
  std::int64_t extent = round_up(ceil_div(k, fewest), kLeastExtent);
  for (int i = 0; i < kTries; ++i, extent -= kLeastExtent) {
    if (extent <= 0 || extent >= k || ceil_div(k, extent) > kMostParts) continue;
    std::vector<Subproblem> parts = parts_along_k(whole, extent);
    const Candidate first = cheapest(parts.front(), limits, options);
    const Candidate later = cheapest(parts[1], limits, options);
    if (std::max(first.workspace_bytes(), later.workspace_bytes()) > limit) continue;
    const double cost =
        first.cost.total() + later.cost.total() * static_cast<double>(parts.size() - 1);
    return Cut{std::move(parts), "parts of k", cost};
  }
  return std::nullopt;
}

// Whether the plan of one product also serves the other product.
bool are_alike(const Subproblem& x, const Subproblem& y) {
  const Problem &a = x.problem, &b = y.problem;
  return a.m == b.m && a.n == b.n && a.k == b.k && a.beta == b.beta && a.epilogue == b.epilogue &&
         a.types == b.types && x.alignment == y.alignment;
}

}  // namespace

Status plan_parts(const std::vector<Subproblem>& parts, std::string_view text,
                  const PlanOptions& options, Plan& plan) {
  Candidate all;
  std::int64_t most = 0;
  std::vector<Step> steps;
  std::vector<std::pair<const Subproblem*, KernelChoice>> planned;
  for (const Subproblem& part : parts) {
    // A part like an earlier part takes the kernel of the earlier part; no other kernel is
    // tried.
    const auto alike = std::find_if(planned.begin(), planned.end(), [&](const auto& other) {
      return are_alike(*other.first, part);
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

bool plan_in_parts(double least_cost, const PlanOptions& of_whole, Plan& plan) {
  const Problem& p = plan.problem;
  if (p.batch.kind != BatchKind::kNone) return false;
  PlanOptions options = of_whole;
  options.packed = {};  // packed operands are whole operands
  const Subproblem whole = subproblem_of(p, plan.alignment);
  std::optional<Cut> cut = fewest_halvings(whole, plan.limits, options);
  std::optional<Cut> of_k = cut_along_k(whole, plan.limits, options);
  if (of_k && (!cut || of_k->cost < cut->cost)) cut = std::move(of_k);
  if (!cut || cut->cost >= least_cost) return false;
  std::vector<Candidate> as_whole = std::move(plan.offers);
  const Status planned = plan_parts(cut->parts, cut->text, options, plan);
  if (planned.ok() && plan.offers.front().cost.total() < least_cost) return true;
  plan.steps.clear();
  plan.offers = std::move(as_whole);
  return false;
}

}  // namespace tessera::gemm
