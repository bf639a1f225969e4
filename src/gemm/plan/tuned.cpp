#include "gemm/plan/tuned.h"

#include <cstdio>
#include <utility>

#include "gemm/overlay/call_text.h"
#include "gemm/overlay/overlay.h"
#include "gemm/plan/search.h"

namespace tessera::gemm {
namespace {

// The overlay does not replace a plan that was requested by name or by a policy.
bool is_free(const PlanOptions& o) {
  return !o.kernel && o.split == Policy::kModel && o.repack == Policy::kModel &&
         o.remainder == Policy::kModel;
}

// The candidate that an overlay's entry names. Throws the reason if that candidate is not
// possible for this problem.
Candidate planned_again(const std::string& name, PlanOptions options, const Plan& plan) {
  const std::vector<KernelChoice> choices = choose_kernels(name);
  if (choices.size() != 1 || choices.front().decision.empty() || is_rung(*choices.front().kernel)) {
    throw StatusError(Status::bad_argument("it is not the name of one plan of the library"));
  }
  options.kernel = choices.front();
  std::vector<Candidate> candidates =
      candidates_of(subproblem_of(plan.problem, plan.alignment), plan.limits, options);
  require(rank(candidates, options.workspace_limit, plan.limits));
  return std::move(candidates.front());
}

}  // namespace

std::optional<Candidate> tuned_candidate(const PlanOptions& options, Plan& plan) {
  const Overlay* const overlay = plan.limits.overlay;
  if (!overlay || !is_free(options) || !reads_ab(plan.problem)) return std::nullopt;
  plan.tuned.ignored = overlay->ignored;
  if (overlay->entries.empty()) return std::nullopt;
  const auto entry =
      overlay->entries.find(key_of({plan.problem, plan.alignment, options.workspace_limit}));
  if (entry == overlay->entries.end()) return std::nullopt;
  plan.tuned.plan = entry->second.plan;
  plan.tuned.us = entry->second.us;
  plan.tuned.by_model_us = entry->second.by_model_us;
  try {
    return planned_again(plan.tuned.plan, options, plan);
  } catch (const StatusError& error) {
    plan.tuned.refused = error.what();
    return std::nullopt;
  }
}

void put_first(Candidate tuned, bool fits, std::vector<Candidate>& offers) {
  if (!fits) offers.clear();
  const std::string name = tuned.name();
  std::erase_if(offers, [&](const Candidate& other) { return other.name() == name; });
  offers.insert(offers.begin(), std::move(tuned));
}

std::string tuned_text(const Plan& plan) {
  const Tuned& tuned = plan.tuned;
  if (!tuned.ignored.empty()) return "the overlay is ignored: " + tuned.ignored;
  if (!tuned.refused.empty()) {
    return "the overlay's plan " + tuned.plan + " is not possible here: " + tuned.refused;
  }
  if (!tuned.is_taken()) return "";
  char text[160];
  std::snprintf(text, sizeof text,
                "the overlay of tessera tune chose it: %.1f us measured, %.1f us for the model's "
                "choice",
                tuned.us, tuned.by_model_us);
  return text;
}

}  // namespace tessera::gemm
