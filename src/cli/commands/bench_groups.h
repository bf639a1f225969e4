// The measurements of one call of bench: every problem with its candidates, known before the first
// one runs, so that a bad argument does not cost an hour.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/options/options.h"
#include "lab/bench/bench.h"
#include "lab/bench/other_build.h"
#include "lab/bench/rewritten.h"

namespace tessera::cli {

// The limit of the workspace of our plans.
struct WorkspaceLimit {
  std::int64_t bytes = gemm::kAnyWorkspace;
  // Times plans that need more workspace than the vendor's library a second time, within its
  // amount.
  bool and_vendors = false;
};
// BYTES, "vendor" (as much as the vendor's library has), "none"; empty: none, and the vendor's.
WorkspaceLimit parse_workspace_limit(const std::string& text);

struct BenchRequest {
  const ProblemOptions& problem;
  Shape otherwise;  // the shape if none is given
  gemm::DeviceLimits limits;
  WorkspaceLimit workspace;
  lab::OtherBuild* other;  // null: this build alone
  // Rewritings to time in addition to each kernel's code as ptxas wrote it; empty: only the code of
  // this build.
  std::vector<lab::Rewriting> rewritings;
  lab::RewrittenCode* rewritten;  // null where there are none
};

// "all", or a list of "remapped", "reordered" and "both"; empty: none.
std::vector<lab::Rewriting> parse_rewritings(const std::string& text);

// One piece of work: the kernels of one type on one problem.
struct BenchGroup {
  Problem problem;
  std::vector<lab::BenchCandidate> candidates;
};

std::vector<BenchGroup> groups_of(const BenchRequest& request);

}  // namespace tessera::cli
