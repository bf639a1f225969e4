// The measurements of one call of bench: all problems and their candidates. They are known before
// the first measurement, so that a bad argument does not cost an hour.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/options/options.h"
#include "lab/bench/bench.h"
#include "lab/bench/other_build.h"
#include "lab/bench/rewritten.h"

namespace tessera::cli {

// The workspace limit of our plans.
struct WorkspaceLimit {
  std::int64_t bytes = gemm::kAnyWorkspace;
  // Plans that need more workspace than the vendor's library has are timed a second time, within
  // the workspace of the vendor's library.
  bool and_vendors = false;
};
// BYTES, "vendor" (the vendor library's workspace) or "none"; empty: no limit, and_vendors is set.
WorkspaceLimit parse_workspace_limit(const std::string& text);

struct BenchRequest {
  const ProblemOptions& problem;
  Shape otherwise;  // the shape if the options give none
  gemm::DeviceLimits limits;
  WorkspaceLimit workspace;
  lab::OtherBuild* other;  // null: only this build
  // Rewritten versions to time in addition to the code that ptxas wrote; empty:
  // only the code of this build.
  std::vector<lab::Rewriting> rewritings;
  lab::RewrittenCode* rewritten;  // null if nothing is rewritten
};

// Reads "all", or a list of "remapped", "reordered" and "both". Returns no rewritings for "".
std::vector<lab::Rewriting> parse_rewritings(const std::string& text);

// A problem, and the kernels of one type that are measured on it.
struct BenchGroup {
  Problem problem;
  std::vector<lab::BenchCandidate> candidates;
};

std::vector<BenchGroup> groups_of(const BenchRequest& request);

}  // namespace tessera::cli
