// Makes a plan: the steps that compute a problem. The same inputs give the same plan on
// any machine. A plan holds no addresses; gemm/call/prepare.h loads it onto a device
// and runs it with operands.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gemm/families/shared/family.h"
#include "gemm/options.h"
#include "gemm/rewrites/route.h"

namespace tessera::gemm {

// The offer of a family for one route. The cost is that of all steps of all rounds.
struct Candidate : Offer {
  std::shared_ptr<const Route> route;
  bool is_in_parts = false;  // in parts that have their own kernels and decisions

  bool is_for_each() const { return route->rounds != 1; }
  std::string decision_text() const { return text_of(decision) + route->text; }
  // The name that plans the candidate again, such as "simt_f32/256x128:repack=a": kernel, variant
  // and decision. For a product in parts: the kernel and the variant of the first part.
  std::string name() const;
  // Bytes of all pieces of the workspace; the pieces of the route come first.
  std::vector<std::int64_t> all_temps() const;
  std::int64_t workspace_bytes() const {
    return gemm::workspace_bytes(temps, gemm::workspace_bytes(route->temps));
  }
};

// A problem's entry in the user's file of tuned plans, the overlay. No entry: all fields are empty.
struct Tuned {
  std::string plan;                // Candidate::name()
  double us = 0, by_model_us = 0;  // measured: of this plan, and of the model's choice
  std::string refused;             // why the plan is not possible here; empty: it is taken
  std::string ignored;             // why the whole overlay is ignored

  bool is_taken() const { return !plan.empty() && refused.empty(); }
};

struct Plan {
  Problem problem;  // alpha and beta are 0, or 1 for any other value
  // The number of products of the batch that `problem` replaces (gemm/rewrites/fold.h); 1: none.
  std::int64_t folded_products = 1;
  OperandTable operands;  // of it
  Alignment alignment;
  DeviceLimits limits;
  // All candidates within the workspace limit. The first one is taken: that of the
  // overlay, else the cheapest one.
  std::vector<Candidate> offers;
  std::vector<Step> steps;                       // of one round; none if nothing is written
  std::int64_t workspace_limit = kAnyWorkspace;  // bytes; the limit for this plan
  Tuned tuned = {};
  PackedOperands packed = {};  // operands that each run gets in packed form

  bool is_folded() const { return folded_products > 1; }
  const Kernel& kernel() const { return *offers.front().kernel; }
  const KernelRow& row() const { return *offers.front().row; }
  // How often the steps are run: once, or for each product of a batch.
  std::int64_t rounds() const { return offers.front().route->rounds; }
  // Bytes of device memory that the steps need in addition to the operands.
  std::int64_t workspace_bytes() const { return offers.front().workspace_bytes(); }
};

// The problem that a plan is made for: leading dimensions filled in, alpha and beta 0 or 1.
Problem planned_problem(Problem problem);

// Checks the problem, collects offers (of the named kernel, else of all kernels of the library),
// and builds the steps of one offer: the one that the overlay in `limits` names, else the cheapest.
// A leading dimension of 0 means the smallest legal one. Throws kBadArgument for an illegal
// problem, for packed operands that a batch does not share, and for too small a workspace limit;
// throws kUnsupported if no kernel takes the problem.
Plan plan(const Problem& problem, const Alignment& alignment, const DeviceLimits& limits,
          const PlanOptions& options = {});

// Not ok for a batch whose products do not share the packed operands.
Status check_packed(const Problem& problem, const PackedOperands& packed);

}  // namespace tessera::gemm
