#include "gemm/plan/search.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "gemm/rewrites/finish_later.h"
#include "gemm/steps/finish.h"

namespace tessera::gemm {
namespace {

// Asks families for candidates, route by route.
class Search {
 public:
  Search(const Subproblem& product, const DeviceLimits& limits, const PlanOptions& options)
      : problem_(product.problem), limits_(limits), options_(options) {
    for (Route& route : routes_of(product, limits, refused_)) {
      routes_.push_back(std::make_shared<const Route>(std::move(route)));
    }
  }

  // Returns all candidates; throws the reason if there are none.
  std::vector<Candidate> candidates() {
    candidates_.reserve(16);
    if (options_.kernel) {
      ask_named(*options_.kernel);
    } else {
      ask_all();
    }
    return std::move(candidates_);
  }

 private:
  void ask_named(const KernelChoice& choice) {
    const Kernel& kernel = *choice.kernel;
    const Epilogue& epilogue = problem_.epilogue;
    if (!choice.decision.empty()) given_ = decision_named(choice);
    // WHY: if A and B are not read, nothing is split or repacked.
    if (!reads_ab(problem_)) given_.reset();
    if (kernel.applies_epilogue && !is_fused(epilogue)) {
      throw StatusError(Status::unsupported("epilogue is " + describe(epilogue) + ", but " +
                                            kernel.name +
                                            " applies a bias and an activation, and no scale"));
    }
    if (kernel.applies_epilogue && epilogue.writes_x() && !kernel.writes_x) {
      throw StatusError(Status::unsupported("epilogue is " + describe(epilogue) + ", but " +
                                            kernel.name + " writes D alone"));
    }
    if (!kernel.applies_epilogue && !epilogue.is_identity()) require(check_sums(problem_));
    Status status;
    for (const auto& route : routes_) {
      // Kernels that apply the epilogue take routes that keep the epilogue;
      // others take other routes.
      const bool keeps_epilogue = route->product.problem.epilogue == epilogue;
      if (kernel.applies_epilogue != keeps_epilogue && !epilogue.is_identity()) continue;
      if (route->product.problem.types != kernel.types && is_by_more_digits(*route)) continue;
      if (given_ && given_->is_for_each != (route->rounds != 1)) continue;
      if (Status why = ask(kernel, choice.variant, route); !why.ok()) status = std::move(why);
    }
    if (given_) keep_given(choice);
    if (!candidates_.empty()) return;
    require(status);
    if (given_ && given_->is_for_each) {
      throw StatusError(Status::bad_argument(
          "kernel names the decision '" + choice.decision +
          "', but the problem is no batch whose products are multiplied one after the other"));
    }
    throw StatusError(Status::bad_argument("kernel names variant '" + choice.variant + "', which " +
                                           kernel.name + " does not have"));
  }

  // Drops candidates whose decision is not the given one.
  void keep_given(const KernelChoice& choice) {
    if (candidates_.empty()) return;
    const std::string wanted = name_of(*given_), other = name_of(candidates_.front().decision);
    std::erase_if(candidates_, [&](const Candidate& c) { return name_of(c.decision) != wanted; });
    if (!candidates_.empty()) return;
    throw StatusError(Status::bad_argument(
        "kernel is '" + choice.kernel->name + "/" + choice.variant + ":" + choice.decision +
        "', but of this problem on this GPU the kernel would make '" + other + "'"));
  }

  void ask_all() {
    for (const auto& route : routes_) {
      const Problem& p = route->product.problem;
      const bool has_epilogue = !p.epilogue.is_identity();
      if (has_epilogue && !is_fused(p.epilogue)) continue;
      for (const Kernel& kernel : all_kernels()) {
        if (kernel.types != p.types || kernel.applies_epilogue != has_epilogue) continue;
        if (has_epilogue && kernel.writes_x != p.epilogue.writes_x()) continue;
        if (!is_rung(kernel)) ask(kernel, "", route);
      }
    }
    if (candidates_.empty()) refuse();
  }

  // Throws the reason why no kernel takes the product.
  [[noreturn]] void refuse() const {
    require(refused_);
    const Types& sums = routes_.back()->product.problem.types;
    if (!check_has_kernel(sums).ok()) require(check_has_kernel(problem_.types));
    require(check_has_kernel(sums));
    const Problem& p = problem_;
    const bool is_batch = p.batch.kind != BatchKind::kNone;
    throw StatusError(Status::unsupported(
        "no kernel takes " + (is_batch ? describe(p.batch) + ", " : "") + "m = " +
        std::to_string(p.m) + ", n = " + std::to_string(p.n) + ", k = " + std::to_string(p.k) +
        " in " + name_of(p.types) + " on an sm_" + std::to_string(limits_.sm)));
  }

  bool is_by_more_digits(const Route& route) const {
    return route.product.problem.types.compute != problem_.types.compute;
  }

  Status ask(const Kernel& kernel, std::string_view variant,
             const std::shared_ptr<const Route>& route) {
    const Problem& p = route->product.problem;
    if (kernel.types != p.types) return of_other_types(kernel, p.types);
    if (limits_.sm < kernel.first_sm || limits_.sm > kernel.last_sm) return of_other_sm(kernel);
    const Family& family = family_of(kernel);
    if (p.batch.kind != BatchKind::kNone && !family.takes(p.batch)) {
      return Status::unsupported("batch is " + describe(p.batch) + ", but " + kernel.name +
                                 " does not read addresses from device memory");
    }
    const std::int64_t limit = options_.workspace_limit - workspace_bytes(route->temps);
    PlanOptions options = options_;
    options.workspace_limit = std::max<std::int64_t>(0, limit);
    offers_.clear();
    Request request =
        request_of(route->product, limits_, options, static_cast<int>(route->temps.size()));
    request.given = given_;
    Status status = family.offer(kernel, variant, request, offers_);
    for (Offer& offer : offers_) keep(std::move(offer), route);
    return status;
  }

  void keep(Offer offer, const std::shared_ptr<const Route>& route) {
    if (is_empty(problem_)) {
      offer.cost = {};
      offer.temps.clear();
    } else {
      offer.cost = (offer.cost + route->cost).times(static_cast<double>(route->rounds));
    }
    offer.decision.is_for_each = route->rounds != 1;
    candidates_.push_back({std::move(offer), route});
  }

  Status of_other_types(const Kernel& kernel, const Types& types) const {
    const bool is_of_sums = types != problem_.types && !problem_.epilogue.is_identity();
    return Status::unsupported("type is " + name_of(problem_.types) +
                               (is_of_sums
                                    ? " with an epilogue (" + describe(problem_.epilogue) +
                                          "), whose sums are kept by kernels of " + name_of(types)
                                    : "") +
                               ", but " + kernel.name + " multiplies " + name_of(kernel.types));
  }

  Status of_other_sm(const Kernel& kernel) const {
    const std::string needed = "sm_" + std::to_string(kernel.first_sm);
    return Status::unsupported("kernel is " + kernel.name + ", whose code needs " + needed +
                               (kernel.last_sm > kernel.first_sm ? " or later" : "a") +
                               ", but the GPU is sm_" + std::to_string(limits_.sm));
  }

  const Problem problem_;
  const DeviceLimits& limits_;
  const PlanOptions& options_;
  std::optional<Decision> given_;  // the decision that the named kernel must follow
  Status refused_;                 // why a rewrite that the problem needs is not possible
  std::vector<std::shared_ptr<const Route>> routes_;
  std::vector<Offer> offers_;  // offers of one kernel
  std::vector<Candidate> candidates_;
};

// The microseconds by which candidates are ranked: the time on the GPU, plus the host's time for
// the launches after the first. WHY apart from the cost: queued calls hide the host's time, but a
// program with short products waits for it.
double rank_of(const Candidate& candidate, const PassCosts& costs) {
  const Cost& c = candidate.cost;
  const int later = (c.repack > 0) + (c.add > 0) + (c.remainder > 0) + (c.finish > 0);
  const double launches = static_cast<double>(candidate.route->rounds) * (1 + later);
  return c.total() + (launches - 1) * costs.next_launch;
}

// The error if all candidates need more workspace than `limit`.
Status exceeded(const std::vector<Candidate>& candidates, std::int64_t limit) {
  const auto least = std::min_element(
      candidates.begin(), candidates.end(),
      [](const auto& x, const auto& y) { return x.workspace_bytes() < y.workspace_bytes(); });
  return Status::bad_argument("workspace_limit is " + std::to_string(limit) + " bytes, but " +
                              least->kernel->name + " needs at least " +
                              std::to_string(least->workspace_bytes()) + " for this problem");
}

}  // namespace

std::vector<Candidate> candidates_of(const Subproblem& product, const DeviceLimits& limits,
                                     const PlanOptions& options) {
  return Search(product, limits, options).candidates();
}

Status rank(std::vector<Candidate>& candidates, std::int64_t limit, const DeviceLimits& limits) {
  // WHY sort indices: candidates are large to move, and their totals take a while to add up.
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].workspace_bytes() > limit) continue;
    order.emplace_back(rank_of(candidates[i], limits.costs->coefficients.passes), i);
  }
  if (order.empty()) return exceeded(candidates, limit);
  std::sort(order.begin(), order.end());
  std::vector<Candidate> ranked;
  ranked.reserve(order.size());
  for (const auto& [us, i] : order) ranked.push_back(std::move(candidates[i]));
  candidates = std::move(ranked);
  return {};
}

std::vector<Step> steps_of(const Candidate& best, const DeviceLimits& limits,
                           const PlanOptions& options) {
  const Route& route = *best.route;
  Request request =
      request_of(route.product, limits, options, static_cast<int>(route.temps.size()));
  request.given = best.decision;
  std::vector<Step> steps = route.before;
  std::vector<Step> of_product = family_of(*best.kernel).steps(best, request);
  std::move(of_product.begin(), of_product.end(), std::back_inserter(steps));
  steps.insert(steps.end(), route.after.begin(), route.after.end());
  for (Step& step : steps) step.kernel = best.kernel;
  place_temps(workspace_layout(best.all_temps()), steps);
  return steps;
}

}  // namespace tessera::gemm
