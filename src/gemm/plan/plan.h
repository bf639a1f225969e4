// From a problem to the steps that compute it. Pure: the same inputs give the same plan on any
// machine. A plan holds no addresses; gemm/call/prepare.h loads it onto a device and runs it with
// operands.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gemm/families/shared/family.h"
#include "gemm/options.h"
#include "gemm/rewrites/route.h"

namespace tessera::gemm {

// The offer of a family for one route. Its cost is that of all steps of all rounds.
struct Candidate : Offer {
  std::shared_ptr<const Route> route;
  bool is_in_parts = false;  // of rows, each with a kernel and a decision of its own

  bool is_for_each() const { return route->rounds != 1; }
  std::string decision_text() const { return text_of(decision) + route->text; }
  // Kernel, variant and decision, by which the same is planned again: "simt_f32/256x128:repack=a".
  // For a product in parts, the kernel and variant are those of the first part.
  std::string name() const;
  // Bytes of all pieces of the workspace, those of the route first.
  std::vector<std::int64_t> all_temps() const;
  std::int64_t workspace_bytes() const {
    return gemm::workspace_bytes(temps, gemm::workspace_bytes(route->temps));
  }
};

// The entry of the user's overlay for a problem. All fields empty: no entry.
struct Tuned {
  std::string plan;                // Candidate::name()
  double us = 0, by_model_us = 0;  // measured: of this plan, and of the model's choice
  std::string refused;             // why that plan is not possible here; empty: it is taken
  std::string ignored;             // why the whole overlay is

  bool is_taken() const { return !plan.empty() && refused.empty(); }
};

struct Plan {
  Problem problem;  // alpha and beta are 0 or 1: whether they are zero is part of it
  // Products of the batch that `problem` replaces (gemm/rewrites/fold.h); 1: it is the caller's.
  std::int64_t folded_products = 1;
  OperandTable operands;  // of it
  Alignment alignment;
  DeviceLimits limits;
  // All candidates within the workspace limit. The first is taken: the overlay's, else the
  // cheapest.
  std::vector<Candidate> offers;
  std::vector<Step> steps;                       // of one round; none where nothing is written
  std::int64_t workspace_limit = kAnyWorkspace;  // that it was made within
  Tuned tuned = {};
  PackedOperands packed = {};  // that a run is given

  bool is_folded() const { return folded_products > 1; }
  const Kernel& kernel() const { return *offers.front().kernel; }
  const KernelRow& row() const { return *offers.front().row; }
  // How often the steps are run: once, or for each product of a batch.
  std::int64_t rounds() const { return offers.front().route->rounds; }
  // Device memory that the steps need in addition to the operands.
  std::int64_t workspace_bytes() const { return offers.front().workspace_bytes(); }
};

// The problem that a plan is made for: leading dimensions filled in, alpha and beta 0 or 1.
Problem planned_problem(Problem problem);

// Checks the problem, collects offers (from the named kernel, else from all kernels of the
// library), and builds the launches of the offer that the overlay of the limits names, else of the
// cheapest. A leading dimension of 0 means the smallest legal one. Throws kBadArgument for an
// illegal problem, packed operands that a batch does not share or a workspace limit below the
// necessary one; kUnsupported if no kernel takes the problem.
Plan plan(const Problem& problem, const Alignment& alignment, const DeviceLimits& limits,
          const PlanOptions& options = {});

// Not ok for a batch whose products do not share what is packed.
Status check_packed(const Problem& problem, const PackedOperands& packed);

}  // namespace tessera::gemm
