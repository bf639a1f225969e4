// Why `--kernel best` takes the kernel that it takes: what the cost model expects of every
// candidate. Nothing runs.
#pragma once

#include <vector>

#include "gemm/select.h"
#include "lab/record/report.h"

namespace tessera::cli {

// The candidates for one problem, the one that is taken first.
struct Reasons {
  Problem problem;
  std::vector<gemm::Candidate> candidates;
};

std::vector<Reasons> reasons_for(const std::vector<Problem>& problems, const PlanContext& context);

// A row a candidate, microseconds part by part; of each problem the first is taken.
Table why_table(const std::vector<Reasons>& reasons, const PlanContext& context);
lab::Json why_json(const std::vector<Reasons>& reasons, const PlanContext& context);

}  // namespace tessera::cli
